"""Forms of the manager's pages."""

import re
import tempfile
import zipfile
import zoneinfo
from dataclasses import replace
from typing import Any

from django import forms
from django.core.files import File
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from accounts.models import Role
from annotation.models import Campaign, Split
from annotation.selectors.items import ItemFilter
from annotation.services.campaigns import RESERVED_SLUGS, SPLIT_NAME, NewSplit, are_named_alike
from annotation.tasktypes.registry import TASK_TYPES
from web.mails import plain_address

MAX_UPLOAD_BYTES = 2 * 2**30
SLUG_LENGTH = 50


class SplitsField(forms.CharField):
    """Splits as lines of ``name annotations share``."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})

    def clean(self, value: Any) -> list[NewSplit]:
        """Return the splits, or say which line is wrong."""
        plans = []
        for number, line in enumerate(super().clean(value).splitlines(), start=1):
            parts = line.split()
            if not parts:
                continue
            if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts[1:]) or int(parts[1]) < 1:
                raise forms.ValidationError(
                    _("Line %(number)d: write a name, how many annotations an item, and its share of the items."),
                    params={"number": number},
                )
            if not SPLIT_NAME.fullmatch(parts[0]):
                raise forms.ValidationError(
                    _(
                        "Line %(number)d: files are named after a split: write Latin letters, digits, dots and hyphens only."
                    ),
                    params={"number": number},
                )
            plans.append(NewSplit(parts[0], int(parts[1]), int(parts[2]) if len(parts) == 3 else 1))
        if not plans or are_named_alike(plans) or not any(plan.weight for plan in plans):
            raise forms.ValidationError(_("Give at least one split, each with a name of its own."))
        return plans


def check_size(upload: Any) -> None:
    """Refuse a file that is too large to import through the browser."""
    if upload.size > MAX_UPLOAD_BYTES:
        raise forms.ValidationError(_("The file is too large for the browser; use the command line to import it."))


class DeadlineForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    """The time for one item, asked for in minutes."""

    deadline_minutes = forms.IntegerField(
        label=_("Minutes for one item"),
        min_value=1,
        max_value=1440,
        initial=30,
        help_text=_("After that it goes to another annotator; a draft is kept, and more time can be asked for."),
    )

    def clean(self) -> dict[str, Any]:
        """Return the time in seconds, as campaigns have it."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        minutes = data.pop("deadline_minutes", None)
        return data | ({"deadline_seconds": 60 * minutes} if minutes else {})


def time_zone_field() -> forms.ChoiceField:
    """Return a choice of all time zones."""
    zones = [(name, name) for name in sorted(zoneinfo.available_timezones())]
    return forms.ChoiceField(label=_("Time zone"), choices=zones, initial="UTC")


class CampaignForm(DeadlineForm):
    """What a new campaign needs to know."""

    task_type = forms.ChoiceField(
        label=_("Task type"), choices=[(key, task_type.title) for key, task_type in TASK_TYPES.items()]
    )
    group_by = forms.ChoiceField(
        label=_("Keep together in one split"),
        required=False,
        choices=[
            ("", _("what suits the task type")),
            ("item", _("nothing")),
            ("document", _("items of the same document")),
            ("question", _("items of the same question (relevance)")),
        ],
    )
    time_zone = time_zone_field()
    splits = SplitsField(
        label=_("Splits"),
        initial="train 1 8\ndev 5 1\ntest 5 1",
        help_text=_("One a line: name, annotations an item, share of the items. Given to items by chance at import."),
    )
    purpose = forms.CharField(label=_("What is this for?"), widget=forms.Textarea(attrs={"rows": 3}))
    recorded = forms.CharField(
        label=_("What is recorded, and for how long?"),
        widget=forms.Textarea(attrs={"rows": 3}),
        initial=_(
            "Your answers, how long each step takes, and what you choose on the page. Nothing you type is logged "
            "key by key. Kept until the dataset is published; answers are published without your name."
        ),
    )
    contact = forms.CharField(label=_("Who can be asked?"))
    approval_id = forms.CharField(label=_("Ethics approval"), required=False)
    tells_behaviour = forms.BooleanField(
        label=_("compare how people work, and tell them so before they agree"),
        required=False,
        initial=True,
        help_text=_(
            "Time, how answers vary, pasted text, input that no device made. It says whose work to look at first."
        ),
    )
    has_training = forms.BooleanField(
        label=_("training round before the first item"),
        required=False,
        initial=True,
    )

    class Meta:
        model = Campaign
        fields = [
            "title",
            "slug",
            "task_type",
            "language",
            "time_zone",
            "group_by",
            "seed",
            "quota",
            "content_warning",
            "has_training",
        ]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        taught = ", ".join(one.title for one in TASK_TYPES.values() if one.training)
        self.fields["has_training"].help_text = _("For task types with examples: %(names)s.") % {"names": taught}
        field = self.fields["slug"]
        field.required = False
        field.help_text = _("Part of every address: small letters, digits, hyphens. Empty: made of the title.")
        field.error_messages["invalid"] = _("Only letters, digits, hyphens and underscores.")

    def clean_group_by(self) -> str:
        """Keep together what the task type says, where nothing was chosen."""
        task_type = TASK_TYPES.get(self.cleaned_data.get("task_type", ""))
        chosen: str = self.cleaned_data["group_by"] or (task_type.keeps_together if task_type else "item")
        return chosen

    def clean_slug(self) -> str:
        """Make a short name of the title where there is none; refuse one whose address is that of another page."""
        slug: str = self.cleaned_data["slug"] or slugify(self.cleaned_data.get("title", ""))[:SLUG_LENGTH]
        if not slug:
            raise forms.ValidationError(_("Give a short name: none can be made of this title."))
        if slug in RESERVED_SLUGS:
            raise forms.ValidationError(_("This short name is taken."))
        return slug


class EffortForm(forms.Form):
    """What the effort of a new campaign is computed from; nothing of it is kept."""

    items = forms.IntegerField(label=_("About how many items?"), min_value=1, max_value=10_000_000, initial=1000)
    seconds = forms.IntegerField(
        label=_("Seconds an annotation takes"),
        min_value=1,
        max_value=86_400,
        initial=80,
        help_text=_("Natural Questions took 80, as its paper says (section 3). A pilot tells yours."),
    )
    pay_an_hour = forms.DecimalField(
        label=_("Pay an hour (dollars)"), min_value=0, max_value=1000, decimal_places=2, initial="15.00"
    )


class ItemsFilterForm(forms.Form):
    """What a list of items is narrowed to; a field that says nothing of the kind narrows nothing."""

    q = forms.CharField(max_length=200)
    split = forms.CharField(max_length=200)
    state = forms.ChoiceField(
        choices=[
            ("active", _("Active")),
            ("unfinished", _("Not finished")),
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
        """Return what is asked for; who answered what, and when, only who sees answers can ask."""
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
        raise forms.ValidationError(_("Several files at once must all be .html pages."))
    if len({file.name for file in files}) < len(files):
        raise forms.ValidationError(_("Two of the files have the same name."))
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
        label=_("Pages"), help_text=_(".html (several at once), .zip of pages, or .jsonl with url, title, html")
    )


class ItemsForm(forms.Form):
    """Items to import."""

    file = forms.FileField(
        validators=[check_size],
        label=_("File"),
    )
    good_rows_only = forms.BooleanField(label=_("Import the good rows even if some are wrong"), required=False)
    pilot = forms.BooleanField(
        label=_("This is a pilot: keep it out of the dataset and its statistics"), required=False
    )
    people = forms.IntegerField(label=_("People in the pilot"), initial=2, min_value=2, max_value=25, required=False)


class PublishedForm(forms.Form):
    """A published Natural Questions file to import."""

    file = forms.FileField(
        validators=[check_size], label=_("Published file"), help_text=_("Original format, .jsonl or .jsonl.gz")
    )
    with_annotations = forms.BooleanField(label=_("With its annotations"), required=False)


class ExtendForm(forms.Form):
    """More annotations of a sample."""

    split = forms.ModelChoiceField(label=_("Split"), queryset=Split.objects.none(), to_field_name="name")
    n = forms.IntegerField(label=_("Annotations an item"), min_value=2, max_value=200, initial=25)
    sample = forms.IntegerField(label=_("How many items"), min_value=1, initial=302)
    seed = forms.IntegerField(label=_("Seed"), initial=0)

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data)
        splits = self.fields["split"]
        assert isinstance(splits, forms.ModelChoiceField)
        splits.queryset = Split.objects.filter(campaign=campaign, weight__gt=0).order_by("position")


class InvitationForm(forms.Form):
    """A link to hand out."""

    role = forms.ChoiceField(label=_("Role"))
    uses = forms.IntegerField(label=_("For how many people"), min_value=1, max_value=10_000, initial=1)
    days = forms.IntegerField(label=_("Valid for days"), min_value=1, max_value=365, initial=14)
    note = forms.CharField(label=_("Note to yourself"), required=False, max_length=200)

    def __init__(self, roles: list[Role], data: Any = None) -> None:
        super().__init__(data)
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(role.value, role.label) for role in roles]


class NamedInvitationsForm(forms.Form):
    """People to invite, each by a mail of their own."""

    MOST = 500

    role = forms.ChoiceField(label=_("Role"))
    addresses = forms.CharField(
        label=_("Email addresses"),
        widget=forms.Textarea(attrs={"rows": 4}),
        max_length=50_000,
        help_text=_("One a line, or with commas between them; a column of a table can be pasted."),
    )
    days = forms.IntegerField(label=_("Valid for days"), min_value=1, max_value=365, initial=14)

    def __init__(self, roles: list[Role], data: Any = None) -> None:
        super().__init__(data, auto_id="id_named_%s")
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(role.value, role.label) for role in roles]

    def clean_addresses(self) -> list[str]:
        """Return the addresses; say which are none."""
        parts = [part for part in re.split(r"[\s,;]+", self.cleaned_data["addresses"]) if part]
        plain = {part: _plain_or_none(part) for part in parts}
        found, wrong = [one for one in plain.values() if one], [part for part, one in plain.items() if one is None]
        if wrong:
            shown = ", ".join(part[:60] for part in wrong[:5])
            raise forms.ValidationError(_("Not an email address: %(which)s"), params={"which": shown})
        if len(found) > self.MOST:
            raise forms.ValidationError(_("At most %(most)s at once."), params={"most": self.MOST})
        return found


def _plain_or_none(text: str) -> str | None:
    try:
        return plain_address(text)
    except forms.ValidationError:
        return None


class EmailDomainForm(forms.Form):
    """The one domain that people of a campaign have their address at."""

    domain = forms.RegexField(
        r"^@?[A-Za-z0-9.-]+\.[A-Za-z]{2,}$",
        label=_("Take only addresses at this domain"),
        required=False,
        max_length=200,
        help_text=_("Such as uni.example; empty: any address."),
    )


MOST_OF_GUIDELINES = 100_000  # characters: everyone who works or looks at the instructions has them rendered


class PilotForm(forms.Form):
    """How many imported items become a pilot."""

    items = forms.IntegerField(label=_("Items"), min_value=1, max_value=200, initial=20)
    people = forms.IntegerField(label=_("Colleagues who answer each"), min_value=2, max_value=50, initial=2)


class GuidelineForm(forms.Form):
    """A new version of the guidelines."""

    body = forms.CharField(
        label=_("Guidelines (Markdown)"), max_length=MOST_OF_GUIDELINES, widget=forms.Textarea(attrs={"rows": 24})
    )
    note = forms.CharField(
        label=_("What changes, in a sentence"),
        max_length=500,
        required=False,
        help_text=_("Annotators read it before their next item, with the changed words marked."),
    )
