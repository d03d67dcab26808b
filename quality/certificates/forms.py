"""Forms for certificates: the claim, and the seed."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign
from quality.certificates.entries import FEWEST_PEOPLE, HASH, SEED, commitment_problem
from quality.payloads import CertificateFreezePayload

LEAST_SHARE, MOST_SHARE = 0.001, 0.5
MOST_TEXT, MOST_REVEALED = 500, 10_000


class ClaimForm(forms.Form):
    """A form for the claim, with which the effort is estimated and labels are frozen."""

    error = forms.FloatField(
        label=_("Acceptable share of wrong labels"),
        min_value=LEAST_SHARE,
        max_value=MOST_SHARE,
        initial=0.05,
        help_text=_("0.05 certifies that at most 5 percent of the labels are wrong."),
    )
    risk = forms.FloatField(
        label=_("Risk"),
        min_value=LEAST_SHARE,
        max_value=MOST_SHARE,
        initial=0.05,
        help_text=_("The probability that a certificate is issued if more labels are wrong."),
    )
    guess = forms.FloatField(
        label=_("Expected share of wrong labels"),
        min_value=0,
        max_value=MOST_SHARE,
        required=False,
        help_text=_("Leave empty for half of the acceptable share. A wrong guess costs judgments, never validity."),
    )


class FreezeForm(ClaimForm):
    """A form that freezes labels."""

    twice = forms.FloatField(
        label=_("Share judged by two experts"),
        min_value=0,
        max_value=1,
        initial=0.2,
        help_text=_("Used to show how much the experts' own errors matter."),
    )
    source = forms.CharField(
        label=_("Source of the seed"),
        max_length=MOST_TEXT,
        required=False,
        help_text=_(
            "A value that nobody knows yet and nobody controls, such as drand quicknet, round 4711000. Leave empty if several people draw the seed together."
        ),
    )
    commitments = forms.CharField(
        label=_("Commitments of several people"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_(
            "Without a source: one line per person with a name, a colon, and the SHA-256 of a text that the person keeps secret until the draw. At least two people."
        ),
    )

    def clean_commitments(self) -> dict[str, str]:
        """Return the hashes by name."""
        found: dict[str, str] = {}
        for line in self.cleaned_data["commitments"].splitlines():
            name, _colon, hashed = (part.strip() for part in line.rpartition(":"))
            if not line.strip():
                continue
            if not name or name in found or not HASH.fullmatch(hashed):
                raise forms.ValidationError(
                    _("%(line)s: expected a new name, a colon, and a SHA-256 (64 digits and letters from a to f)."),
                    params={"line": line.strip()[:80]},
                )
            found[name] = hashed
        if found and len(found) < FEWEST_PEOPLE:
            raise forms.ValidationError(_("At least two people have to commit themselves."))
        return found

    def clean(self) -> dict[str, Any]:
        """Check that the seed has one source."""
        given = super().clean() or self.cleaned_data
        if "commitments" in given and bool(given.get("source", "").strip()) is bool(given["commitments"]):
            raise forms.ValidationError(_("Enter either a source of the seed or the commitments of several people."))
        return given

    def payload(self, campaign: Campaign) -> CertificateFreezePayload:
        """Return what the job gets that freezes the labels."""
        given = self.cleaned_data
        return CertificateFreezePayload(
            campaign=str(campaign.pk),
            error=given["error"],
            risk=given["risk"],
            guess=given["guess"],
            twice=given["twice"],
            source=given["source"].strip(),
            commitments=given["commitments"],
        )


class SeedForm(forms.Form):
    """A form for the seed: the value of the announced source, or the texts of people who committed themselves."""

    def __init__(self, commitments: Mapping[str, str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commitments = commitments
        self.names = {f"text{number}": name for number, name in enumerate(sorted(commitments))}
        if not commitments:
            self.fields["seed"] = forms.RegexField(
                rf"\A{SEED.pattern}\Z",
                label=_("Seed"),
                max_length=MOST_TEXT,
                help_text=_("The value of the announced source: digits and letters from a to f, in lower case."),
                error_messages={"invalid": _("Enter digits and letters from a to f, in lower case.")},
            )
        for field, name in self.names.items():
            lines = forms.Textarea(attrs={"rows": 2})
            self.fields[field] = forms.CharField(label=name, max_length=MOST_REVEALED, strip=False, widget=lines)

    @property
    def reveals(self) -> dict[str, str]:
        """Return the revealed texts by name."""
        return {name: self.cleaned_data[field] for field, name in self.names.items()}

    def clean(self) -> dict[str, Any]:
        """Check each text against its hash."""
        given = super().clean() or self.cleaned_data
        for field, name in self.names.items():
            # A browser sends line breaks in its own way.
            texts = [given[field], given[field].replace("\r\n", "\n")] if field in given else []
            right = [text for text in texts if not commitment_problem({name: self.commitments[name]}, {name: text})]
            if right:
                given[field] = right[0]
            elif texts:
                self.add_error(field, _("This isn't the text whose hash was published."))
        return given
