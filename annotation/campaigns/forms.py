"""The forms of a campaign: its settings, its size, its guidelines, its pilot."""

import zoneinfo
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from annotation.campaigns.services.campaigns import RESERVED_SLUGS, SPLIT_NAME, NewSplit, are_named_alike
from annotation.models import Campaign, Split
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES

SLUG_LENGTH = 50


class SplitsField(forms.CharField):
    """Splits as lines of ``name annotations share``."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})

    def clean(self, value: Any) -> list[NewSplit]:
        """Return the splits, or say which line is wrong."""
        splits = []
        for number, line in enumerate(super().clean(value).splitlines(), start=1):
            parts = line.split()
            if not parts:
                continue
            if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts[1:]) or int(parts[1]) < 1:
                raise forms.ValidationError(
                    _(
                        "Line %(number)d: enter the split's name, annotations per item, and share of the items, separated by spaces."
                    ),
                    params={"number": number},
                )
            if not SPLIT_NAME.fullmatch(parts[0]):
                raise forms.ValidationError(
                    _(
                        "Line %(number)d: a split's name becomes part of file names. Use only Latin letters, digits, dots, and hyphens."
                    ),
                    params={"number": number},
                )
            splits.append(NewSplit(parts[0], int(parts[1]), int(parts[2]) if len(parts) == 3 else 1))
        if not splits or are_named_alike(splits) or not any(split.weight for split in splits):
            raise forms.ValidationError(
                _("Enter at least one split with a share above 0. Give each split a unique name.")
            )
        return splits


class DeadlineForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    """The time for one item, asked for in minutes."""

    deadline_minutes = forms.IntegerField(
        label=_("Minutes per item"),
        min_value=1,
        max_value=1440,
        initial=30,
        help_text=_(
            "When the time is up, the item goes to another annotator. Drafts are kept, and annotators can ask for more time."
        ),
    )

    def clean(self) -> dict[str, Any]:
        """Return the time in seconds, the unit that campaigns store."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        minutes = data.pop("deadline_minutes", None)
        return data | ({"deadline_seconds": 60 * minutes} if minutes else {})


class TimeZoneField(forms.CharField):
    """A time zone, found by typing a part of its name; a city alone is enough, in any case."""

    default_error_messages = {
        "unknown": _("“%(name)s” isn't a known time zone. Choose one from the list, for example Europe/Berlin.")
    }

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.TextInput(attrs={"list": "time-zones", "autocomplete": "off", "spellcheck": "false"})
        super().__init__(**{"label": _("Time zone"), "initial": "UTC", "widget": widget, "max_length": 64, **kwargs})

    @property
    def suggestions(self) -> list[str]:
        """The names of all time zones."""
        return sorted(zoneinfo.available_timezones())

    def clean(self, value: Any) -> Any:
        """Return the name of the zone as the database of time zones spells it."""
        name = super().clean(value)
        wanted = name.casefold().replace(" ", "_")
        zones = self.suggestions
        found = [zone for zone in zones if zone.casefold() == wanted]
        found = found or [zone for zone in zones if zone.casefold().rpartition("/")[2] == wanted]
        if len(found) != 1:
            raise forms.ValidationError(self.error_messages["unknown"], code="unknown", params={"name": name})
        return found[0]


class CampaignForm(DeadlineForm):
    """The settings of a new campaign."""

    task_type = forms.ChoiceField(
        label=_("Task type"), choices=[(key, task_type.title) for key, task_type in TASK_TYPES.items()]
    )
    group_by = forms.ChoiceField(
        label=_("Assign items to splits"),
        required=False,
        choices=[
            ("", _("Default for the task type")),
            ("item", _("One by one")),
            ("document", _("All items of a document together")),
            ("question", _("All items of a question together (relevance tasks)")),
        ],
    )
    time_zone = TimeZoneField()
    splits = SplitsField(
        label=_("Splits"),
        help_text=_(
            "Enter one split per line: name, annotations per item, and its share of the items. Shares of 1 and 3 mean a quarter and three quarters. Items are assigned to splits at random on import."
        ),
    )
    purpose = forms.CharField(label=_("Why are we collecting this data?"), widget=forms.Textarea(attrs={"rows": 3}))
    recorded = forms.CharField(
        label=_("What is recorded, and for how long?"),
        widget=forms.Textarea(attrs={"rows": 3}),
        initial=_(
            "We record your answers, how long each step takes, and what you select on the page. We don't log individual keystrokes. What you select on the page is deleted after 90 days. Answers and times are kept, and published without your name."
        ),
    )
    contact = forms.CharField(label=_("Contact"))
    approval_id = forms.CharField(label=_("Ethics approval"), required=False)
    tells_behaviour = forms.BooleanField(
        label=_("Compare how annotators work (stated in the consent text)"),
        required=False,
        initial=True,
        help_text=_(
            "Compares annotators' time per item, variety of answers, pasted text, and automated input. Managers use the comparison to decide whose work to review first."
        ),
    )
    has_training = forms.BooleanField(
        label=_("Training round before the first item"),
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
        self.fields["has_training"].help_text = _("Available for task types with worked examples: %(names)s.") % {
            "names": taught
        }
        field = self.fields["slug"]
        field.required = False
        field.help_text = _(
            "Used in the campaign's web addresses. Use only letters, digits, hyphens, and underscores. Leave empty to generate it from the title."
        )
        field.error_messages["invalid"] = _("Use only letters, digits, hyphens, and underscores.")

    def clean(self) -> dict[str, Any]:
        """Refuse numbers of votes that can tie."""
        data = super().clean()
        even = [split.name for split in data.get("splits") or () if split.n % 2 == 0]
        if even and isinstance(TASK_TYPES.get(data.get("task_type", "")), Voted):
            said = _("Votes can tie in %(names)s. Use an odd number of annotations per item, for example 3.")
            self.add_error("splits", forms.ValidationError(said, params={"names": ", ".join(even)}))
        return data

    def clean_group_by(self) -> str:
        """Use the task type's grouping (which items stay in one split), if the manager chose none."""
        task_type = TASK_TYPES.get(self.cleaned_data.get("task_type", ""))
        chosen: str = self.cleaned_data["group_by"] or (task_type.keeps_together if task_type else "item")
        return chosen

    def clean_slug(self) -> str:
        """Make a missing short name from the title; refuse a short name that another page's address uses."""
        slug: str = self.cleaned_data["slug"] or slugify(self.cleaned_data.get("title", ""))[:SLUG_LENGTH]
        if not slug:
            raise forms.ValidationError(_("Enter a short name. It can't be generated from this title."))
        if slug in RESERVED_SLUGS:
            raise forms.ValidationError(_("This short name is already in use. Choose another one."))
        return slug


class EffortForm(forms.Form):
    """The inputs for the effort estimate of a new campaign; none of them is stored."""

    items = forms.IntegerField(label=_("Estimated number of items"), min_value=1, max_value=10_000_000, initial=1000)
    seconds = forms.IntegerField(
        label=_("Seconds per annotation"),
        min_value=1,
        max_value=86_400,
        help_text=_("Enter an estimate. A pilot shows the actual time."),
    )
    pay_an_hour = forms.DecimalField(
        label=_("Pay per hour (dollars)"), min_value=0, max_value=1000, decimal_places=2, initial="15.00"
    )


_DEFAULTS = {"splits": "default_splits", "seconds": "usual_seconds"}  # fields, and where task types have them


def defaults_of(task_type: str, sent: Mapping[str, str]) -> dict[str, Any]:
    """Return the first values of the form of a new campaign, for a task type.

    Parameters
    ----------
    sent
        The values before another task type was chosen. A value stays unless it is the default of some task type.
    """
    values: dict[str, Any] = {"task_type": task_type}
    for field, attribute in _DEFAULTS.items():
        typed = _lines(sent.get(field, ""))
        defaults = {str(getattr(one, attribute)) for one in TASK_TYPES.values()}
        is_default = typed in ("", *defaults)
        values[field] = getattr(TASK_TYPES[task_type], attribute) if is_default else typed
    return values


def _lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


class ExtendForm(forms.Form):
    """More annotations of a sample."""

    split = forms.ModelChoiceField(label=_("Split"), queryset=Split.objects.none(), to_field_name="name")
    n = forms.IntegerField(label=_("Annotations per item"), min_value=2, max_value=200, initial=25)
    sample = forms.IntegerField(label=_("Number of items"), min_value=1, initial=302)
    seed = forms.IntegerField(label=_("Seed"), initial=0)

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data)
        splits = self.fields["split"]
        assert isinstance(splits, forms.ModelChoiceField)
        splits.queryset = Split.objects.filter(campaign=campaign, weight__gt=0).order_by("position")


MOST_OF_GUIDELINES = 100_000  # characters: everyone who works or looks at the instructions has them rendered


class PilotForm(forms.Form):
    """The number of imported items that become a pilot."""

    items = forms.IntegerField(label=_("Items"), min_value=1, max_value=200, initial=20)
    people = forms.IntegerField(
        label=_("Number of colleagues who answer each item"), min_value=2, max_value=50, initial=2
    )


class GuidelineForm(forms.Form):
    """A new version of the guidelines."""

    body = forms.CharField(
        label=_("Guidelines (Markdown)"), max_length=MOST_OF_GUIDELINES, widget=forms.Textarea(attrs={"rows": 24})
    )
    note = forms.CharField(
        label=_("Summary of changes"),
        max_length=500,
        required=False,
        help_text=_("Annotators see this summary and the highlighted changes before their next item."),
    )
