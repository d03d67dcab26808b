"""The interface of a hub: a site to which releases are published under an account of this installation.

A hub is a file next to this one and a line in `exports.publishing.registry`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from exports.models import Publication, Release
from web.errors import KeyedError

SECONDS = 60  # for one request without files


class PublishError(KeyedError):
    """A release can't be published as requested; the message gives the reason."""


class HubAway(Exception):
    """The hub doesn't respond, or asks to try again later."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be published.

    Attributes
    ----------
    address
        The name that the publisher chose on the hub, if the hub has such names.
    is_public
        Whether everyone may see it; otherwise only the account may.
    options
        What else was asked for: ``evaluation_framework``.
    remote
        What `remember` kept of earlier attempts.
    earlier
        What was kept of the campaign's last release there that this one continues (`Hub.continues`).
    folder
        The files of the release.
    """

    release: Release
    address: str
    is_public: bool
    folder: Path
    options: dict[str, Any] = field(default_factory=dict)
    remote: dict[str, Any] = field(default_factory=dict)
    earlier: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Published:
    """Where a release is: its URL, its version on the hub, and its DOI if there is one."""

    url: str
    version: str
    doi: str = ""


Remember = Callable[[dict[str, Any]], None]
Confirm = Callable[[], None]


class Hub(ABC):
    """A hub.

    Attributes
    ----------
    key, title
        The name in rows and commands, and the name on pages.
    takes_name
        Whether the publisher chooses a name there, which all releases of a campaign share, and so who sees them.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    takes_name: ClassVar[bool] = False

    @abstractmethod
    def is_configured(self) -> bool:
        """Return whether this installation has an account there."""

    @abstractmethod
    def check(self, release: Release, address: str) -> str:
        """Return the name in the form that the hub uses.

        Raises
        ------
        PublishError
            The hub wouldn't take the release: the name has another form, or facts are missing.
        """

    @abstractmethod
    def continues(self, row: Publication) -> bool:
        """Return whether the next release of the campaign continues this publication there."""

    @abstractmethod
    def visit(self) -> None:
        """Ask whether the hub is there and takes our token, before a release is fetched for it.

        Raises
        ------
        PublishError, HubAway
        """

    @abstractmethod
    def publish(self, wanted: Wanted, remember: Remember, confirm: Confirm) -> Published:
        """Publish a release, or go on with it after an interruption. It has one effect, however often it is called.

        ``remember`` keeps a value before the step that it is about. ``confirm`` comes right before each step that others
        see; it ends a job that was stopped, and refuses what was sealed in the meantime.

        Raises
        ------
        PublishError
            The hub refused.
        HubAway
        """
