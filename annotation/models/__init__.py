"""The rows of the annotation app."""

from annotation.models.campaigns import (
    Batch,
    BatchState,
    Campaign,
    CampaignState,
    Guideline,
    Participation,
    Split,
    Standing,
)
from annotation.models.documents import CampaignDocument, Document, Tokenization
from annotation.models.items import Item, ItemState, Slot, SlotState
from annotation.models.work import (
    BLOCKING,
    Annotation,
    Assignment,
    AssignmentState,
    EventChunk,
    ItemReport,
    Snapshot,
)

__all__ = [
    "BLOCKING",
    "Annotation",
    "Assignment",
    "AssignmentState",
    "Batch",
    "BatchState",
    "Campaign",
    "CampaignDocument",
    "CampaignState",
    "Document",
    "EventChunk",
    "Guideline",
    "Item",
    "ItemReport",
    "ItemState",
    "Participation",
    "Slot",
    "SlotState",
    "Snapshot",
    "Split",
    "Standing",
    "Tokenization",
]
