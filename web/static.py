"""Static files with hashed names, with all imports inlined, so that a page needs few requests and no build step.

The sources are small modules and style sheets that import each other by relative paths. With DEBUG on, browsers read
them unchanged.
"""

import posixpath
import re
import tempfile
from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORTS = {
    ".css": re.compile(r'^@import "(?P<path>[^"]+)";\n', re.MULTILINE),
    ".js": re.compile(r'^import \{[\w, ]+\} from "(?P<path>[^"]+)";\n', re.MULTILINE),
}
_LEFT = re.compile(r"^(?:import\b|export default|export \{|@import).*", re.MULTILINE)
Paths = dict[str, tuple[Storage, str]]  # by name: where its source lies


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped library
    """Django's storage, compressed by WhiteNoise, for files with inlined imports."""

    def post_process(self, paths: Paths, **options: Any) -> Iterator[tuple[str, str, bool]]:
        """Hash the files that `collectstatic` has collected, as the base class does."""
        with tempfile.TemporaryDirectory() as folder:
            storage = FileSystemStorage(folder)
            made = {
                name: (storage, storage.save(name, ContentFile(whole(name, paths).encode())))
                for name in paths
                if posixpath.splitext(name)[1] in IMPORTS and not name.startswith("vendor/")
            }
            yield from super().post_process({**paths, **made}, **options)


def whole(name: str, paths: Paths, seen: set[str] | None = None) -> str:
    """Return a module or style sheet preceded by all its imports, each once.

    The modules share one scope, so two modules may not use the same name at their top level: browsers would refuse the
    file.

    Raises
    ------
    ImproperlyConfigured
        An import has another form, or its file doesn't exist.
    """
    seen = {name} if seen is None else seen
    storage, path = paths[name]
    with storage.open(path) as file:
        text = file.read().decode()
    before = []
    pattern = IMPORTS[posixpath.splitext(name)[1]]
    for found in pattern.finditer(text):
        other = posixpath.normpath(posixpath.join(posixpath.dirname(name), found["path"]))
        if other not in paths:
            raise ImproperlyConfigured(f"{name}: there is no {other}")
        if other not in seen:
            seen.add(other)
            before.append(whole(other, paths, seen))
    text = re.sub("^export ", "", pattern.sub("", text), flags=re.MULTILINE)
    if left := _LEFT.search(text):
        raise ImproperlyConfigured(f"{name}: {left[0]!r} is no import or export that can be written into one file")
    return "".join([*before, text])
