"""What tests do at the marketplace and in its frames."""

import hashlib
import hmac
import re
import time
from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from django.conf import settings
from django.test import Client
from django.utils import timezone

from simulation.browser import Browser
from tests.workforces.conftest import TERMS
from workforces.kinds.mturk.reconcile import reconcile
from workforces.models import Posting, Ticket, Workforce


def fault(made, operation, kind, times):
    made.market.call("marketplace_fault", operation, kind, "--times", str(times))


def lose_the_answer(made, operation):
    """Let a call get through and its answer be lost, and what boto3 tries again be throttled."""
    fault(made, operation, "drop-after", 1)
    fault(made, operation, "throttle", 2)


def hits(made):
    return [hit for page in made.client.get_paginator("list_hits").paginate() for hit in page["HITs"]]


def paid(made):
    """Return what the marketplace paid, and check it against our ledger to the cent."""
    found = reconcile(workforce=made.workforce)
    assert found.agrees, found.differences
    return made.money()["paid"]


def local(url):
    """Return an address of this platform as its own client asks for it."""
    return re.sub(r"https?://[^/]+", "", url)


def visit_of(page):
    """Return the address of the visit that a page shows a step of."""
    own = re.search(r'"(/visit/[^/"]+/)', page.content.decode())
    chain = getattr(page, "redirect_chain", None)
    return own[1] if own else chain[-1][0] if chain else page.request["PATH_INFO"]


def path(page, what):
    return re.search(rf'action="([^"]*/{what}/)"', page.content.decode()).group(1)


def text_of(page):
    return re.search(r'name="text" value="(\d+)"', page.content.decode()).group(1)


def by_link(row, person, visit, **more):
    """Return the address of a panel's link, signed by the panel."""
    expires = str(int(time.time()) + 600)
    mark = hmac.new(row.secret.encode(), f"{person}\n{visit}\n{expires}".encode(), hashlib.sha256).hexdigest()
    query = {"PROLIFIC_PID": person, "SESSION_ID": visit, "quorateExpires": expires, "quorateSignature": mark, **more}
    return f"{row.path}?{urlencode(query)}"


def signed(query):
    """Return the parameters of a frame's address with the marketplace's signature, where it signs."""
    secret = settings.MTURK_FRAME_SECRET
    expires = str(int(time.time()) + 600)
    text = "\n".join([query["hitId"], query["assignmentId"], query["workerId"], expires])
    mark = hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
    return {**query, "quorateExpires": expires, "quorateSignature": mark} if secret else query


def arrive(made, worker, assignment, hit=None):
    """Open the frame's address as someone who says who they are; agree, and return the page of the item."""
    client = Client()
    query = {"assignmentId": assignment, "hitId": hit or Posting.objects.order_by("pk")[0].hit_id, "workerId": worker}
    page = client.get(made.workforce.path, signed(query), follow=True)
    if "/agree/" in page.content.decode():
        client.post(path(page, "agree"), {"text": text_of(page)})
        page = client.get(visit_of(page), follow=True)
    return client, page


def answer(client, page, label=4):
    client.post(path(page, "answer"), {"stage": "relevance", "version": "0", "label": str(label)})


def readdressed(url, **more):
    """Return a frame's address that says something else."""
    parts = urlsplit(url)
    query = {key: values[0] for key, values in parse_qs(parts.query).items()} | more
    return urlunsplit(parts._replace(query=urlencode(query)))


def enter(url):
    """Open a frame as a browser does, agree if one is asked, and return the page."""
    frame = Browser()
    page = frame.get(url)
    consent = page.form_to("/agree/")
    return frame.send(consent) if consent else page


def send(form, **more):
    return Browser().send(form, **more)


def answer_in(page):
    """Answer the item that a frame shows and return the page that follows."""
    return send(page.form_to("/answer/"), label="4", active_seconds="2.0")


def answer_one(url):
    return answer_in(enter(url))


def rounds(made, number=3):
    for _ in range(number):
        made.round()


def lapse(made, ticket):
    """Let a ticket's time pass, with the marketplace read after it."""
    past = timedelta(seconds=600 + settings.MTURK_GRACE_SECONDS + 5)
    Ticket.objects.filter(pk=ticket.pk).update(opened_at=timezone.now() - past)
    made.round()
    made.round()


def stale(made, seconds):
    Workforce.objects.filter(pk=made.workforce.pk).update(terms={**TERMS, "stale_seconds": seconds})
