"""What tests do as people whom a panel sends."""

import re

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation
from tests import factories
from tests.workforces.acts import path, text_of, visit_of
from workforces.services.workforces import workforce_add

CODES = {
    "code_completed": "CODE-DONE",
    "code_screened_out": "CODE-OUT",
    "code_nothing_left": "CODE-LEFT",
    "items_per_ticket": 2,
}


def link(campaign, **terms):
    return workforce_add(campaign=campaign, kind="link", terms={**CODES, **terms}, actor_id=None, now=timezone.now())


def unsigned(row, person, visit):
    return f"{row.path}?PROLIFIC_PID={person}&SESSION_ID={visit}"


def come(address, client=None):
    """Follow an address and agree; return the client and the page that it leads to."""
    client = client or Client()
    page = client.get(address, follow=True)
    if "/agree/" in page.content.decode():
        client.post(path(page, "agree"), {"text": text_of(page)})
        page = client.get(visit_of(page), follow=True)
    return client, page


def work(client, page, label=4):
    """Answer until the visit is over; return its last page."""
    while "/answer/" in page.content.decode():
        version = re.search(r'name="version" value="(\d+)"', page.content.decode()).group(1)
        page = client.post(
            path(page, "answer"), {"stage": "relevance", "version": version, "label": str(label)}, follow=True
        )
    return page


def statement_of(page):
    """Return the address of the statement that a visit's last page names."""
    return re.search(r'href="([^"]*/statement/[^"]*)"', page.content.decode()).group(1)


def states():
    return sorted(Annotation.objects.values_list("state", flat=True))


def confirm(row, text, boss=None):
    boss = boss or factories.user(is_admin=True)
    client = Client()
    client.force_login(boss)
    upload = SimpleUploadedFile("export.csv", text.encode())
    address = f"/campaigns/{row.campaign.slug}/recruitment/{row.pk}/confirm/"
    assert client.post(address, {"file": upload}).status_code == 302
    factories.run_jobs()
    return client.get(f"/campaigns/{row.campaign.slug}/recruitment/").content.decode()


def come_only(address):
    return Client().get(address, follow=True).content.decode()
