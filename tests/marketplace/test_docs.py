"""The documentation is true: the worked example runs, every operation and every code is in the reference."""

import re

import pytest

from marketplace.models import Assignment, Worker
from marketplace.protocol.service import operation_names
from tests.conftest import ROOT
from tests.marketplace.acts import do
from tests.marketplace.test_conformance import CODES

REFERENCE = (ROOT / "docs/reference/marketplace-api.md").read_text()


@pytest.mark.django_db(transaction=True)
def test_the_worked_example_runs_as_it_is_printed(lab, site, worker, monkeypatch, capsys):
    text = (ROOT / "docs/how-to/point-boto3-at-quorate.md").read_text()
    client, post, pay = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for name, value in (("ENDPOINT", site), ("KEY", lab.key[0]), ("SECRET", lab.key[1])):
        monkeypatch.setenv(f"MARKETPLACE_{name}", value)
    names: dict = {}
    exec(client + post, names)
    do(Worker.objects.get(), names["hit"], port="Ancona")
    exec(pay, names)
    printed = capsys.readouterr().out
    assert f"{worker.worker_id} {{'port': 'Ancona'}}" in printed
    assert "Assignable" in printed
    assert Assignment.objects.get().state == "Approved"
    assert (
        printed.split()[-1] == "99.52"
    )  # three places held, one of them paid, and a bonus of 5 cents with its cent of fee


def test_every_operation_is_in_the_reference():
    listed = dict(re.findall(r"^\| `(\w+)` \| (exact|choice|left out) \|", REFERENCE, re.MULTILINE))
    assert sorted(listed) == operation_names()


def test_every_error_code_is_in_the_reference():
    assert {code for code in CODES if code.rpartition(".")[2] not in REFERENCE} == set()
