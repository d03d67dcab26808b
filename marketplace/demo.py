"""Demo data for a new marketplace: a requester with money, two workers, and open HITs."""

from datetime import datetime
from decimal import Decimal
from xml.sax.saxutils import escape

from django.utils.crypto import salted_hmac

from marketplace.models import AccessKey, Requester, Worker
from marketplace.protocol.questions import HTML
from marketplace.protocol.requirements import LOCALE, normalise
from marketplace.services.hits import HitValues, TypeValues, hit_create
from marketplace.services.ledger import money_deposit
from marketplace.services.requesters import key_current, requester_create
from marketplace.services.workers import worker_create

REQUESTER = "demo"
WORKERS = {"wanda@demo.example": ("DE", 212, 3), "wei@demo.example": ("CN", 18, 0)}
_NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
_STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;margin:1.5rem;max-width:44rem;color:#1b1e24}label{display:block;padding:.4rem 0}"
    "blockquote{border-left:4px solid #858d9c;margin:0 0 1rem;padding:.2rem 1rem}button{font:inherit;padding:.6rem 1.2rem}"
)
PAIRS = [
    (
        "Why is the sea salty?",
        "Rivers carry minerals from the rocks into the sea; the water leaves again as vapour and the salt stays.",
    ),
    (
        "How do lighthouses get power on small islands?",
        "Many have solar panels and batteries now. Before that they burned oil or gas.",
    ),
    ("What does a harbour pilot do?", "My uncle once saw a whale near the pier."),
    (
        "Can I see the same stars from both hemispheres?",
        "Some of them: those near the celestial equator rise on both sides.",
    ),
    ("Why do ships have round windows?", "A round hole has no corners where cracks could begin."),
    ("How deep is a fjord?", "Boats there are mostly red."),
]
_LABELS = [
    ("4", "Looks reasonable and convincing; at least as good as the known answer"),
    ("3", "May answer the question, but is not sufficiently convincing"),
    ("2", "Does not answer the question, or gives an unreasonable answer, but is on its topic"),
    ("1", "Completely out of context, or makes no sense"),
]
_LINES = ["The ferry from Ancona to Split leaves at nine.", "Grain was shipped through Odesa for two centuries."]


def seed(*, now: datetime) -> tuple[Requester, AccessKey, list[dict[str, str]]]:
    """Create missing demo data; return the requester, a key, and the workers with their passwords."""
    requester = Requester.objects.filter(name=REQUESTER).first()
    if requester is None:
        requester = requester_create(name=REQUESTER, fee_rules="none", signs_frames=True, now=now)
        money_deposit(requester=requester, amount=Decimal(500), now=now)
        _post(requester, now)
    return requester, key_current(requester=requester, now=now), [_worker(email, now) for email in WORKERS]


def _worker(email: str, now: datetime) -> dict[str, str]:
    country, approved, rejected = WORKERS[email]
    password = _password(email)
    worker = Worker.objects.filter(email=email).first() or worker_create(
        email=email, password=password, now=now, country=country, prior_approved=approved, prior_rejected=rejected
    )
    return {"email": email, "password": password, "worker_id": worker.worker_id}


def _password(email: str) -> str:
    """Return a demo account's password: specific to this installation, always the same, and not stored."""
    return salted_hmac("marketplace demo", email).hexdigest()[:12]


def _post(requester: Requester, now: datetime) -> None:
    relevance = TypeValues(
        title="Choose one of four labels for an answer",
        description="Read a question and one answer to it, and choose one of four labels. About twenty seconds each.",
        keywords="relevance, questions, reading",
        reward=Decimal("0.12"),
        assignment_seconds=600,
        auto_approval_seconds=3 * 86_400,
        requirements=[],
    )
    for question, answer in PAIRS:
        choices = "".join(
            f'<label><input type="radio" name="label" value="{value}" required> {value}: {text}</label>'
            for value, text in _LABELS
        )
        _hit(
            requester, relevance, f"<h1>{escape(question)}</h1><blockquote>{escape(answer)}</blockquote>{choices}", now
        )
    ports = TypeValues(
        title="Name the ports in a line",
        description="Copy the names of ports from a short line of text.",
        keywords="reading, ports",
        reward=Decimal("0.05"),
        assignment_seconds=300,
        auto_approval_seconds=86_400,
        requirements=normalise(
            [
                {
                    "QualificationTypeId": LOCALE,
                    "Comparator": "In",
                    "LocaleValues": [{"Country": "DE"}, {"Country": "US"}],
                }
            ]
        ),
    )
    for line in _LINES:
        _hit(
            requester,
            ports,
            f'<h1>Which ports are named?</h1><blockquote>{escape(line)}</blockquote><label>Ports <input name="ports" required></label>',
            now,
        )


def _hit(requester: Requester, kind: TypeValues, body: str, now: datetime) -> None:
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Task</title><style>{_STYLE}</style></head><body>'
        '<form name="mturk_form" method="post" id="mturk_form" action="https://www.mturk.com/mturk/externalSubmit">'
        f'<input type="hidden" name="assignmentId" id="assignmentId">{body}<p><button id="submitButton">Submit</button></p></form>'
        '<script src="https://s3.amazonaws.com/mturk-public/externalHIT_v1.js"></script><script>turkSetAssignmentID();</script>'
        "</body></html>"
    )
    question = f'<HTMLQuestion xmlns="{_NAMESPACE}"><HTMLContent><![CDATA[{page}]]></HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>'
    values = HitValues(question, HTML, None, 3, 30 * 86_400, "demo", None)
    hit_create(requester=requester, hit_type=kind, values=values, token=None, now=now)
