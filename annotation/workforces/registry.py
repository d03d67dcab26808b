"""The workforces there are."""

from annotation.workforces.base import Workforce
from annotation.workforces.internal import Internal
from annotation.workforces.link import Link
from annotation.workforces.mturk_frame import MTurk

WORKFORCES: dict[str, Workforce] = {workforce.key: workforce for workforce in (Internal(), Link(), MTurk())}
