"""The forms for changing a campaign's settings."""

from typing import Any

from django import forms

from annotation.campaigns.forms import CampaignForm, DeadlineForm, TimeZoneField
from annotation.models import Campaign
from annotation.tasktypes.registry import pages_of
from annotation.work.services.shown import options_of


class ChangesOnly(forms.BaseForm):
    """A form that also sends each field's value from when the page was opened, to detect which fields were changed.

    If those values are missing, the submitted values are compared with the current ones.
    """

    def __init__(self, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        for field in self.fields.values():
            field.show_hidden_initial = data is None or any(name.startswith("initial-") for name in data)


class SettingsForm(ChangesOnly, DeadlineForm):
    """The settings that can change while a campaign runs."""

    time_zone = TimeZoneField()

    class Meta:
        model = Campaign
        fields = ["title", "content_warning", "quota", "time_zone"]


class OptionsForm(forms.Form):
    """The options of a campaign's task type."""

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data, initial=dict(options_of(campaign)))
        names = pages_of(campaign.task_type).option_names
        for key in options_of(campaign):
            label, help_text = names[key]
            self.fields[key] = forms.BooleanField(label=label, help_text=help_text, required=False)


class ConsentForm(ChangesOnly, forms.Form):
    """A new version of the consent text."""

    purpose = CampaignForm.base_fields["purpose"]
    recorded = CampaignForm.base_fields["recorded"]
    contact = CampaignForm.base_fields["contact"]
    approval_id = CampaignForm.base_fields["approval_id"]
    tells_behaviour = CampaignForm.base_fields["tells_behaviour"]
