"""Pages for researchers: releases, their content, and their files."""

from collections.abc import Iterable
from functools import partial
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.files.storage import storages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.permissions import Action, actions_of, can, signed_in
from annotation.access import campaign_for
from annotation.campaigns.selectors.overview import splits_counted
from annotation.campaigns.selectors.sealing import LEAST_ITEMS
from annotation.models import Campaign, Split
from exports.archive import zip_stream
from exports.build import SUMS, descriptions_of
from exports.card import LOAD
from exports.errors import ReleaseError
from exports.families import FAMILIES, families_of
from exports.models import Release, ReleaseState
from exports.preview import previews
from exports.publishing.views import publications_shown
from exports.selectors.certificates import certificate_shown
from exports.selectors.sealing import closed_among, closed_by
from exports.services import release_request, release_sent, release_write_here
from jobs.views import may_steer
from storage.files import StoreAway
from web.error_texts import error_text


class ReleaseForm(forms.Form):
    """A form for the options of a release."""

    family = forms.ChoiceField(label=_("Format"))
    ways = forms.IntegerField(
        label=_("Annotations per item"),
        min_value=1,
        max_value=200,
        required=False,
        help_text=_(
            "Applies to formats that list individual annotations. Items with fewer annotations are listed as incomplete, and splits that collect fewer are left out."
        ),
    )
    splits = forms.ModelMultipleChoiceField(
        label=_("Splits"),
        queryset=Split.objects.none(),
        to_field_name="name",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Leave empty to include every split that collects enough annotations per item."),
    )
    shards = forms.IntegerField(label=_("Files per split"), min_value=1, max_value=100, initial=1)
    seed = forms.IntegerField(
        label=_("Seed for the item order"),
        initial=0,
        required=False,
        min_value=0,
        max_value=2**53,
        help_text=_("Leave empty to keep the import order."),
    )

    licence = forms.CharField(
        label=_("License"),
        max_length=100,
        required=False,
        help_text=_(
            "An SPDX identifier, for example CC-BY-SA-4.0 (required for Wikipedia text). It's stated in the dataset card and the manifest."
        ),
    )

    labels_only = forms.BooleanField(
        label=_("Omit texts"),
        required=False,
        help_text=_(
            "Use this option if you can't redistribute the texts. The release then contains only labels, votes, and ids."
        ),
    )

    authors = forms.CharField(
        label=_("Authors"),
        max_length=5000,
        required=False,
        widget=forms.Textarea({"rows": 3}),
        help_text=_(
            "Enter one author to cite per line. Write people's names as “Family, Given”. Leave empty to omit CITATION.cff."
        ),
    )

    def clean_authors(self) -> list[str]:
        """Return the authors' names, from one name per line."""
        return [name for line in self.cleaned_data["authors"].splitlines() if (name := line.strip())]

    def clean(self) -> dict[str, Any]:
        """Refuse splits that would be left out whole, because they collect fewer annotations per item."""
        cleaned = cast("dict[str, Any]", super().clean())
        ways = cleaned.get("ways")
        counts = ways is not None and self.families[cleaned["family"]].takes_ways
        short = [split.name for split in cleaned.get("splits", ()) if counts and split.n < ways]
        if short:
            said = _(
                "%(names)s: fewer annotations per item are collected. Deselect these splits, or enter a smaller number."
            )
            self.add_error("ways", said % {"names": ", ".join(short)})
        return cleaned

    def __init__(self, campaign: Campaign, splits: Iterable[Split], data: object = None) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self.families = families = families_of(campaign.task_type)
        cast("forms.ChoiceField", self.fields["family"]).choices = [(name, name) for name in families]
        self.initial["ways"] = max((split.n for split in splits), default=1)
        if all(family.takes_ways for family in families.values()):
            self.fields["ways"].required = True
        elif not any(family.takes_ways for family in families.values()):
            del self.fields["ways"]
        if not any(family.has_labels_alone for family in families.values()):
            del self.fields["labels_only"]
        field = cast("forms.ModelMultipleChoiceField[Split]", self.fields["splits"])
        field.queryset = Split.objects.filter(campaign=campaign, weight__gt=0).order_by("position")


@login_required
@require_http_methods(["GET", "POST"])
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    """List releases; POST freezes one and queues a job that writes it."""
    campaign = campaign_for(request, slug, Action.SEE_RELEASES)
    user = signed_in(request)
    splits = list(campaign.splits.filter(weight__gt=0).order_by("position"))
    rows = list(Release.objects.select_related("job").filter(campaign=campaign).order_by("-number")[:100])
    form = ReleaseForm(campaign, splits, request.POST or None)
    if rows:  # mostly the same again
        form.initial["licence"] = rows[0].frozen.get("licence") or ""
        form.initial["authors"] = "\n".join(rows[0].frozen.get("authors", []))
    may = actions_of(user, campaign.pk)
    may_release = Action.RELEASE in may
    if request.method == "POST":
        if not may_release:
            raise PermissionDenied
        if form.is_valid():
            data = {"ways": None, **form.cleaned_data, "splits": [split.name for split in form.cleaned_data["splits"]]}
            try:
                made = release_request(campaign=campaign, actor_id=user.surrogate_id, now=timezone.now(), **data)
                left_out = [split.name for split in splits if split.name not in made.splits]
                if left_out and not data["splits"]:
                    said = _("Not in this release: %(names)s. These splits collect fewer annotations per item.")
                    messages.warning(request, said % {"names": ", ".join(left_out)})
                return redirect("release", slug=slug, number=made.number)
            except ReleaseError as error:
                is_about_ways = "ways" in form.fields and error.key in ("release_ways_missing", "release_ways_unmet")
                form.add_error("ways" if is_about_ways else None, error_text(error))
    sealed = [split.name for split in splits if split.sealed_at is not None]
    counted, counted_at = splits_counted(campaign)
    context = {
        "campaign": campaign,
        "counted": counted,
        "counted_at": counted_at,
        "is_nothing_complete": bool(counted) and not any(split["complete"] for split in counted),
        "releases": [(row, closed_among(row, sealed)) for row in rows],
        "form": form,
        "may_release": may_release,
        "splits": splits,
        "may_seal": Action.MANAGE in may,
        "may_unseal": Action.UNSEAL in may,
        "least_to_seal": LEAST_ITEMS,
    }
    return render(request, "exports/releases.html", context)


def _snippet(names: list[str]) -> str:
    """Return Python code that reads the first data file, depending on its format."""
    name = next((name for name in names if not name.startswith("sidecar/")), "")
    opened = (
        f'gzip.open("{name}", "rt", encoding="utf-8")' if name.endswith(".gz") else f'open("{name}", encoding="utf-8")'
    )
    stem = name.removesuffix(".gz")
    if not stem.endswith((".jsonl", ".txt", ".tsv", ".qrel")):
        return ""
    is_json = stem.endswith(".jsonl")
    imports = ", ".join(one for one, wanted in (("gzip", name.endswith(".gz")), ("json", is_json)) if wanted)
    row = (
        "json.loads(line)"
        if is_json
        else "line.split()"
        if stem.endswith(".qrel")
        else 'line.rstrip("\\n").split("\\t")'
    )
    return "\n".join([*([f"import {imports}"] if imports else []), f"rows = [{row} for line in {opened}]"])


@login_required
@require_GET
def release(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show what is in a release and how it was made."""
    campaign = campaign_for(request, slug, Action.SEE_RELEASES)
    row = get_object_or_404(Release.objects.select_related("job", "campaign"), campaign=campaign, number=number)
    closed = closed_by(row)
    files = [] if closed else sorted(row.manifest.get("files", {}).items())
    may_release = can(signed_in(request), Action.RELEASE, campaign.pk)
    is_kept = row.state == ReleaseState.READY and not closed and _is_kept(row)
    is_away = is_kept is None
    context = {
        "campaign": campaign,
        "release": row,
        "is_shuffled": FAMILIES[row.family].is_shuffled,
        "files": files,
        "size": sum(file["size"] for _name, file in files),
        "snippet": LOAD if row.has_tables else _snippet([name for name, _file in files]),
        "descriptions": [] if closed else descriptions_of(row),
        "closed": closed,
        "certificate": None if closed else certificate_shown(row),
        "is_kept": is_kept or is_away,
        "is_away": is_away,
        "previews": previews(row) if may_release and is_kept else [],
        "may_release": may_release,
        **(publications_shown(row) if may_release and is_kept else {}),
        "only_watched": row.state != ReleaseState.READY and row.job is not None and not may_steer(request, row.job),
    }
    return render(request, "exports/release.html", context)


@login_required
@require_POST
def write_here(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Write the files of a release into our storage that a command writes, wrote, or didn't finish."""
    campaign = campaign_for(request, slug, Action.RELEASE)
    row = get_object_or_404(Release.objects.select_related("campaign"), campaign=campaign, number=number)
    if closed_by(row):
        raise PermissionDenied
    written = release_write_here(release=row, actor_id=signed_in(request).surrogate_id, now=timezone.now())
    return redirect("job", job_id=written.job_id)


def _ready(request: HttpRequest, slug: str, number: int) -> Release:
    campaign = campaign_for(request, slug, Action.RELEASE)
    rows = Release.objects.select_related("campaign")
    row = get_object_or_404(rows, campaign=campaign, number=number, state=ReleaseState.READY)
    if closed_by(row):
        raise PermissionDenied
    return row


def _away(request: HttpRequest, row: Release) -> HttpResponse:
    messages.error(request, _("The file storage isn't responding. Try again in a few minutes."))
    return redirect("release", slug=row.campaign.slug, number=row.number)


def _is_kept(row: Release) -> bool | None:
    """Return whether a release's files are in our storage, None if it doesn't respond.

    The command writes them into a folder of its own instead.
    """
    try:
        return storages["releases_now"].exists(f"{row.folder}/{SUMS}")
    except StoreAway:
        return None


@login_required
@require_GET
def download(request: HttpRequest, slug: str, number: int, name: str) -> HttpResponseBase:
    """Send a file that the manifest lists; other files can't be requested."""
    row = _ready(request, slug, number)
    if name not in descriptions_of(row) and name not in row.manifest["files"]:
        raise Http404
    try:
        file = storages["releases_now"].open(f"{row.folder}/{name}")
    except FileNotFoundError as error:
        raise Http404 from error
    except StoreAway:
        return _away(request, row)
    release_sent(release=row, name=name, actor_id=signed_in(request).surrogate_id, now=timezone.now())
    return FileResponse(file, as_attachment=True, filename=name.rsplit("/", 1)[-1])


@login_required
@require_GET
def download_all(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    """Send all files of a release as one zip."""
    row = _ready(request, slug, number)
    names = sorted([*descriptions_of(row), *row.manifest["files"]])
    storage, name = storages["releases_now"], f"{slug}-release-{number}"
    try:
        if not all(storage.exists(f"{row.folder}/{one}") for one in names):
            raise Http404
    except StoreAway:
        return _away(request, row)
    release_sent(release=row, name="all", actor_id=signed_in(request).surrogate_id, now=timezone.now())
    parts = zip_stream(name, ((one, partial(storage.open, f"{row.folder}/{one}")) for one in names))
    return StreamingHttpResponse(
        parts, content_type="application/zip", headers={"Content-Disposition": f'attachment; filename="{name}.zip"'}
    )
