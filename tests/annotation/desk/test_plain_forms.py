"""The desk without scripts: forms are sent by the browser itself, as where a script has not started yet."""

import pytest
from django.urls import reverse

from tests import factories

pytestmark = pytest.mark.django_db


def sent_without_scripts(client, *, items):
    """Answer the first of some items; return the campaign and the page that follows."""
    campaign = factories.antique(items=items, n=1)
    person = factories.annotator(campaign)
    client.force_login(person)
    assignment = factories.claim(campaign, person)
    sent = {"stage": "relevance", "label": "4", "version": assignment.draft_version}
    return campaign, client.post(reverse("stage", args=[assignment.pk]), sent, follow=True)


def test_the_last_answer_leads_to_why_there_is_nothing_more(client):
    _campaign, page = sent_without_scripts(client, items=1)
    assert "All done" in page.content.decode()


def test_an_answer_leads_to_the_next_item_by_its_own_address(client):
    campaign, page = sent_without_scripts(client, items=2)
    assert page.redirect_chain == [(reverse("work", args=[campaign.slug]), 302)]
    assert 'data-stage="relevance"' in page.content.decode()
