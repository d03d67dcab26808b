"""System checks that warn operators before people use the installation."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, register
from django.core.checks import Warning as CheckWarning

from storage.private import is_open_to_others


@register
def files_are_private(**_options: Any) -> list[CheckMessage]:
    """Warn when others on this machine can read the data folder or the database."""
    database = settings.DATABASES["default"]
    paths = [Path(settings.DATA_DIR)]
    if database["ENGINE"].endswith("sqlite3"):
        paths.append(Path(str(database["NAME"])))
    # A folder that nobody else can enter protects what is in it.
    inside = [path for path in paths[1:] if path.is_relative_to(paths[0]) and not is_open_to_others(paths[0])]
    return [
        CheckWarning(f"{path} can be read by others on this machine", hint=f"chmod -R go= {path}", id="quorate.W001")
        for path in paths
        if path not in inside and is_open_to_others(path)
    ]


@register
def frames_are_signed(**_options: Any) -> list[CheckMessage]:
    """Warn when there is a marketplace but no secret that its frames are signed with."""
    if not settings.MTURK_ENDPOINT_URL or settings.MTURK_FRAME_SECRET:
        return []
    return [
        CheckWarning(
            "MTURK_FRAME_SECRET is not set: anybody can write the address of a frame",
            hint="marketplace_requester prints frame_secret; without it each visit waits to be confirmed by the list",
            id="quorate.W002",
        )
    ]
