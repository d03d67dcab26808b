"""The forms for importing pages and items, and for finding items."""

import tempfile
import zipfile
from dataclasses import replace
from typing import Any

from django import forms
from django.core.files import File
from django.utils.translation import gettext_lazy as _

from annotation.items.selectors import ItemFilter

MAX_UPLOAD_BYTES = 2 * 2**30


def check_size(upload: Any) -> None:
    """Refuse a file that is too large to import through the browser."""
    if upload.size > MAX_UPLOAD_BYTES:
        raise forms.ValidationError(
            _("The file is too large to upload in the browser. Import it from the command line instead.")
        )


class ItemsFilterForm(forms.Form):
    """The filters of a list of items; an empty or invalid field filters nothing."""

    q = forms.CharField(max_length=200)
    split = forms.CharField(max_length=200)
    state = forms.ChoiceField(
        choices=[
            ("active", _("Active")),
            ("unfinished", _("Unfinished")),
            ("retired", _("Retired")),
            ("reported", _("Reported")),
        ]
    )
    batch = forms.IntegerField(min_value=0, max_value=32767)
    round = forms.IntegerField(min_value=1, max_value=32767)
    person = forms.UUIDField()
    day = forms.DateField(input_formats=["%Y-%m-%d"])
    guideline = forms.IntegerField(min_value=1, max_value=32767)
    differs = forms.BooleanField()

    def wanted(self, *, sees_answers: bool) -> ItemFilter:
        """Return the filter to apply; only people who see answers can filter by annotator, answer and time."""
        self.is_valid()
        sent = self.cleaned_data
        wanted = ItemFilter(
            split=sent.get("split", ""),
            state=sent.get("state", ""),
            text=sent.get("q", ""),
            batch=sent.get("batch"),
            round=sent.get("round"),
        )
        if not sees_answers:
            return wanted
        return replace(
            wanted,
            person=sent.get("person"),
            day=sent.get("day"),
            guideline=sent.get("guideline"),
            differs=sent.get("differs", False),
        )


class _SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file, or several pages, which become one archive."""

    widget = _SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Return the file, or a zip archive of the files."""
        given = (data or [None]) if isinstance(data, list | tuple) else [data]
        files = [super(FilesField, self).clean(one, initial) for one in given]
        for file in files:
            check_size(file)
        return files[0] if len(files) == 1 else _archive(files)


def _archive(files: list[Any]) -> "File[bytes]":
    """Return a zip archive of pages, each under its name."""
    if not all(file.name.lower().endswith((".html", ".htm")) for file in files):
        raise forms.ValidationError(_("To upload several files at once, choose only .html files."))
    if len({file.name for file in files}) < len(files):
        raise forms.ValidationError(_("Two of the files have the same name. Rename one and try again."))
    archive = tempfile.TemporaryFile()  # noqa: SIM115  the caller reads it; it goes with the last reference
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in files:
            with packed.open(file.name, "w") as page:
                for chunk in file.chunks():
                    page.write(chunk)
    archive.seek(0)
    return File(archive, name="pages.zip")


class DocumentsForm(forms.Form):
    """Pages to import."""

    file = FilesField(
        label=_("Pages"),
        help_text=_(
            "Upload one or more .html files, a .zip file of .html pages, or a .jsonl file with url, title, and html fields."
        ),
    )


class ItemsForm(forms.Form):
    """Items to import."""

    file = forms.FileField(
        validators=[check_size],
        label=_("File"),
    )
    good_rows_only = forms.BooleanField(label=_("Import valid rows even if other rows have errors"), required=False)
    pilot = forms.BooleanField(
        label=_("Import as a pilot (excluded from the dataset and its statistics)"), required=False
    )
    people = forms.IntegerField(
        label=_("Annotators per pilot item"), initial=2, min_value=2, max_value=25, required=False
    )


class PublishedForm(forms.Form):
    """A published Natural Questions file to import."""

    file = forms.FileField(
        validators=[check_size],
        label=_("Published Natural Questions file"),
        help_text=_("Use the original Natural Questions format (.jsonl or .jsonl.gz)."),
    )
    with_annotations = forms.BooleanField(label=_("Import its annotations too"), required=False)
