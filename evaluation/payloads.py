"""The payloads of jobs about systems."""

from jobs.payloads import CampaignPayload, FilePayload


class SystemsPayload(CampaignPayload, FilePayload):
    """Add systems; the first upload draws ``count`` questions to judge."""

    count: int
