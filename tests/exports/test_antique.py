"""ANTIQUE releases: the published files, read by the package that the field reads them with, and scored."""

import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from exports.models import Release
from tests import factories
from tests.exports.conftest import LABELS

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]


@pytest.fixture
def released(judged, tmp_path):
    call_command("release", judged.slug, "--format", "antique", "--to", str(tmp_path))
    return tmp_path


def test_the_files_are_the_published_ones(released):
    qrel = (released / "antique-train.qrel").read_text()
    assert qrel == (
        "0045 Q0 0045_0 2\n0045 E0 0045_2 2\n0045 U0 0045_5 4\n"
        "2146313 Q0 2146313_0 4\n2146313 Q0 2146313_1 1\n2146313 U0 2146313_5 4\n2146313 Q0 2146313_8 3\n"
    )
    queries = (released / "antique-train-queries.txt").read_text()
    assert queries.splitlines()[0] == "0045\tWhy 0045? naïve 😀"
    collection = (released / "antique-collection.txt").read_bytes().decode()
    assert all(len(line.split("\t")) == 2 for line in collection.splitlines())
    assert "0045_2\tBecause of 0045 2. 数据\n" in collection
    assert (released / "train-queries-blacklist.txt").read_text() == "0045\n"


def test_no_statement_asks_for_rows_that_are_not_in_a_list(judged, tmp_path):
    """PostgreSQL walks through a list that its working memory does not hold, again for each row: hours in place of seconds."""
    with CaptureQueriesContext(connection) as queries:
        call_command("release", judged.slug, "--format", "antique", "--to", str(tmp_path / "one"))
        call_command("release", judged.slug, "--format", "antique", "--to", str(tmp_path / "two"))  # what changed since
    asked = [query["sql"] for query in queries if "exports_" in query["sql"]]
    assert len(asked) > 20
    either = [sql for sql in asked if re.search(r'NOT \("[^()]* IN \(SELECT|IN \(SELECT [^()]*\) OR ', sql)]
    assert either == []


def test_the_form_is_that_of_the_real_files(released, shared):
    """Line by line, what was published and what we write fit the same patterns."""
    for real, ours in (
        ("sample.qrel", "antique-train.qrel"),
        ("sample-queries.txt", "antique-train-queries.txt"),
        ("sample-collection.txt", "antique-collection.txt"),
    ):
        pattern = re.compile(r"\d+ [QUE]0 \d+_\d+ [1-4]" if real.endswith("qrel") else r"[\d_]+\t[^\t]+")
        for path in (shared / "antique" / real, released / ours):
            lines = path.read_text(encoding="utf-8").splitlines()
            assert lines
            assert all(pattern.fullmatch(line) for line in lines), path


@pytest.mark.peers
def test_ir_datasets_loads_them_with_its_own_classes_and_ids_stay_text(released):
    from ir_datasets.datasets.antique import QREL_DEFS
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import TrecQrels, TsvDocs, TsvQueries
    from ir_datasets.util import LocalDownload

    def file(name):
        return LocalDownload(Path(released / name))

    dataset = Dataset(
        TsvDocs(file("antique-collection.txt"), namespace="antique", lang="en"),
        TsvQueries(file("antique-train-queries.txt"), namespace="antique", lang="en"),
        TrecQrels(file("antique-train.qrel"), QREL_DEFS),
    )
    docs = {doc.doc_id: doc.text for doc in dataset.docs_iter()}
    assert set(docs) == {*LABELS, "2146313_5", "0045_5"}
    assert {query.query_id for query in dataset.queries_iter()} == {"2146313", "0045"}
    qrels = {(row.query_id, row.doc_id): (row.relevance, row.iteration) for row in dataset.qrels_iter()}
    assert qrels["0045", "0045_2"] == (2, "E0")
    assert qrels["0045", "0045_5"] == (4, "U0")
    assert all(doc_id in docs and isinstance(doc_id, str) for _, doc_id in qrels)


@pytest.mark.peers
def test_ir_measures_scores_a_run_with_the_numbers_that_the_definitions_give(released, tmp_path):
    import ir_measures

    run = tmp_path / "run"
    ranked = {"2146313": ["2146313_1", "2146313_0", "2146313_8", "2146313_5"], "0045": ["0045_5", "0045_0", "0045_2"]}
    run.write_text(
        "".join(
            f"{query} Q0 {doc} {rank} {10 - rank} ours\n"
            for query, docs in ranked.items()
            for rank, doc in enumerate(docs, start=1)
        )
    )
    qrels = list(ir_measures.read_trec_qrels(str(released / "antique-train.qrel")))
    found = ir_measures.calc_aggregate(
        [ir_measures.AP(rel=3), ir_measures.RR(rel=3), ir_measures.P(rel=3) @ 1],
        qrels,
        ir_measures.read_trec_run(str(run)),
    )
    # 2146313: relevant at ranks 2, 3, 4 of three relevant; 0045: at rank 1 of one.
    assert found[ir_measures.AP(rel=3)] == pytest.approx(((1 / 2 + 2 / 3 + 3 / 4) / 3 + 1) / 2)
    assert found[ir_measures.RR(rel=3)] == pytest.approx((1 / 2 + 1) / 2)
    assert found[ir_measures.P(rel=3) @ 1] == pytest.approx(0.5)


def test_the_same_release_gives_the_same_bytes_and_says_what_is_not_ready(judged, released, tmp_path):
    factories.import_rows(judged, factories.pairs(1))
    call_command("release", judged.slug, "--format", "antique", "--to", str(tmp_path / "again"))
    for name in ("antique-train.qrel", "antique-collection.txt"):
        first, second = (released / name).read_text(), (tmp_path / "again" / name).read_text()
        assert first == "".join(line + "\n" for line in second.splitlines() if not line.startswith("9"))
    assert Release.objects.order_by("-number")[0].manifest["shortfall"] == 1


def test_a_format_of_another_task_type_is_refused(judged):
    with pytest.raises(CommandError, match="isn't available for the task type"):
        call_command("release", judged.slug, "--format", "nq-original", "--ways", "3", "--to", "nowhere")
