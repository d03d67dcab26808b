"""The statistics of annotation: agreement, votes, label models, gold tests, audits, targets.

These modules don't need Django or a database: `from measures import alpha, judgments_of` works in any notebook. The
names below are the public ones; the modules contain more. A name's module is imported when the name is first used,
since some need pandas or SciPy and most programs need neither.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "judgments": ["Judgments", "judgments_from", "judgments_of", "Repeats", "TooManyLabels"],
    "judgment_files": ["judgments_read", "truths_read", "JudgmentOptions", "JudgmentFileError"],
    "agreement": ["alpha", "Agreement", "Level"],
    "kappas": ["percent_agreement", "fleiss_kappa", "cohen_kappa", "gwet_ac", "Weights"],
    "set_agreement": ["PagesAgreement", "SetAgreement", "jaccard_distance", "masi_distance"],
    "voting": ["strict_majority", "unique_plurality", "Decided", "NoAgreement", "TooFew"],
    "aggregation": ["majority", "wawa", "Votes", "entropy"],
    "label_models": ["dawid_skene", "DawidSkene"],
    "comparison": ["foresight", "Foresight"],
    "reliability": ["peer_agreement", "hit_rate", "wilson", "Rates"],
    "gold_tests": ["GoldTest", "Assessment", "Finding"],
    "audits": ["label_error", "allocation", "strata_by_doubt", "Stratum", "LabelError"],
    "targets": ["next_purchase", "Target", "Purchase", "Stop"],
    "certificates": ["Claim", "RiskLimitingAudit"],
    "reports": ["crowd_report", "report_frames"],
}
_MODULE_OF = {name: f"measures.{module}" for module, names in _MODULES.items() for name in names}
__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Load a public name's module when the name is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
