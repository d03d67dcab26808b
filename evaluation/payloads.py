"""The payloads of jobs about systems."""

from typing import NotRequired

from jobs.payloads import CampaignPayload, FilePayload


class SystemsPayload(CampaignPayload, FilePayload):
    """Add systems; the first upload draws ``count`` questions to judge."""

    count: int


class PredictionsPayload(CampaignPayload, FilePayload):
    """Add a system by its predictions; answers below the least scores count as none."""

    system: str
    least_long: NotRequired[float | None]
    least_short: NotRequired[float | None]


class PredictionsSamplePayload(CampaignPayload):
    """Send ``count`` random items with the answers of all systems to experts."""

    count: int
    experts: int
