"""The kinds of workforces there are."""

from workforces.kinds.base import Kind
from workforces.kinds.internal.kind import Internal
from workforces.kinds.link.kind import Link
from workforces.kinds.mturk.kind import MTurk

KINDS: dict[str, Kind] = {kind.key: kind for kind in (Internal(), Link(), MTurk())}
