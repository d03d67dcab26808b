"""`evaluate relevance` beside trec_eval's rules written out, ir_measures and scipy; and what it refuses."""

import gzip
import json
import math
import os

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from evaluation.files import EvaluationError
from evaluation.relevance import files
from evaluation.relevance.files import read_qrels, read_run
from evaluation.relevance.report import MEASURES, Convention, relevance_report, values_of
from evaluation.statistics import holm, mean_intervals, randomisation_p
from storage.text_files import text_lines

CONVENTION = Convention(resamples=0)


def write(folder, qrels, run, name="run.txt"):
    """Write labels and scores as their files."""
    folder.mkdir(exist_ok=True)
    (folder / "qrels.txt").write_text("".join(f"{q} Q0 {d} {label}\n" for q, d, label in qrels))
    (folder / name).write_text("".join(f"{q} Q0 {d} 1 {score!r} {name}\n" for q, d, score in run))
    return folder / "qrels.txt", folder / name


def scored(folder, qrels, run, convention=CONVENTION):
    qrels_path, run_path = write(folder, qrels, run)
    labels = read_qrels(qrels_path, lowest=convention.lowest)
    return relevance_report(labels, [read_run(run_path, labels)], convention)


def by_the_book(labels, ranked):
    """Return the measures of one question from its labels (1 to 4) and the ids in their order."""
    given = [labels.get(answer) for answer in ranked]
    hits = [label is not None and label >= 3 for label in given]
    all_relevant = sum(label >= 3 for label in labels.values())
    found = {
        "MAP": sum(sum(hits[: at + 1]) / (at + 1) for at, hit in enumerate(hits) if hit) / all_relevant
        if all_relevant
        else 0,
        "MRR": 1 / (hits.index(True) + 1) if any(hits) else 0,
    }
    gains, best = [(label or 1) - 1 for label in given], sorted((label - 1 for label in labels.values()), reverse=True)
    for depth in (1, 3, 10):
        found[f"P@{depth}"] = sum(hits[:depth]) / depth
        ideal = discounted(best[:depth])
        found[f"nDCG@{depth}"] = discounted(gains[:depth]) / ideal if ideal else 0
    return found


def discounted(gains):
    return sum(gain / math.log2(at + 2) for at, gain in enumerate(gains))


IDS = st.sampled_from([f"{q}_{n}" for q in (11, 7) for n in range(6)])
LABELS = st.dictionaries(st.tuples(st.sampled_from(["q1", "q2", "q3"]), IDS), st.integers(1, 4), min_size=1)
SCORES = st.dictionaries(
    st.tuples(st.sampled_from(["q1", "q2", "q4"]), IDS), st.sampled_from([0.5, 1.0, 1.00000001, 2.0]), min_size=1
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LABELS, SCORES)
def test_the_numbers_are_those_of_trec_evals_rules(tmp_path, labels, scores):
    if not {q for q, _ in scores} & {q for q, _ in labels}:
        return
    qrels_path, run_path = write(
        tmp_path, [(q, d, label) for (q, d), label in labels.items()], [(q, d, s) for (q, d), s in scores.items()]
    )
    qrels = read_qrels(qrels_path, lowest=1)
    found = values_of(qrels, read_run(run_path, qrels), CONVENTION)
    for at, question in enumerate(sorted(qrels)):
        own = {d: s for (q, d), s in scores.items() if q == question}
        ranked = sorted(own, key=lambda answer: (np.float32(own[answer]), answer), reverse=True)
        expected = by_the_book(qrels[question], ranked)
        assert {measure: found[measure][at] for measure in MEASURES} == pytest.approx(expected, abs=1e-9)


@pytest.mark.peers
def test_the_numbers_are_those_of_ir_measures_asked_one_by_one(tmp_path):
    import ir_measures
    from ir_measures import AP, RR, Judged, P, nDCG

    draw = np.random.default_rng(5)
    qrels = [(f"q{q}", f"{q}_{d}", int(draw.integers(1, 5))) for q in range(12) for d in range(9)]
    run = [(f"q{q}", f"{q}_{d}", float(score)) for q in range(11) for d, score in enumerate(draw.permutation(20))]
    found = scored(tmp_path, qrels, run)["runs"][0]
    trec_run = list(ir_measures.read_trec_run(str(tmp_path / "run.txt")))
    raw = list(ir_measures.read_trec_qrels(str(tmp_path / "qrels.txt")))
    shifted = [row._replace(relevance=row.relevance - 1) for row in raw]
    asked = {"MAP": AP(rel=3), "MRR": RR(rel=3), **{f"P@{k}": P(rel=3) @ k for k in (1, 3, 10)}}
    for name, measure in asked.items():
        assert found["metrics"][name] == pytest.approx(ir_measures.calc_aggregate([measure], raw, trec_run)[measure])
    for depth in (1, 3, 10):
        measure = nDCG @ depth
        assert found["metrics"][f"nDCG@{depth}"] == pytest.approx(
            ir_measures.calc_aggregate([measure], shifted, trec_run)[measure]
        )
        answered = [
            row.value for row in ir_measures.iter_calc([Judged @ depth], raw, trec_run) if row.query_id != "q11"
        ]
        assert found["judged"][f"@{depth}"] == pytest.approx(sum(answered) / len(answered))


def test_what_is_not_answered_counts_0_and_what_has_no_label_is_passed_over(tmp_path):
    qrels = [("q1", "a", 4), ("q2", "b", 3), ("q3", "c", 2)]
    found = scored(tmp_path, qrels, [("q1", "a", 2.0), ("q1", "z", 2.0), ("q9", "a", 1.0)])
    run = found["runs"][0]
    assert (found["questions"], found["without_relevant"]) == (3, 1)
    assert (run["unanswered"], run["unanswered_first"], run["without_labels"], run["ties"]) == (2, ["q2", "q3"], 1, 1)
    assert run["metrics"]["MRR"] == pytest.approx(1 / 6)  # of equal scores z is ranked before a
    assert run["judged"]["@1"] == 0.0
    assert run["judged"]["@10"] == 0.5


@pytest.mark.peers
def test_two_runs_are_compared_by_a_randomisation_test_with_holms_correction(tmp_path):
    from statsmodels.stats.multitest import multipletests

    draw = np.random.default_rng(3)
    first = {"one": draw.random(9).tolist(), "other": draw.random(9).tolist()}
    second = {"one": (draw.random(9) * 0.3).tolist(), "other": first["other"]}
    found = randomisation_p(first, second, permutations=20_000, seed=1)
    exact = permutation_test(
        (first["one"], second["one"]),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert found["one"] == pytest.approx(exact.pvalue, abs=0.01)
    assert found["other"] == 1.0
    given = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005, "e": 0.9}
    assert list(holm(given)) == ["d", "a", "c", "b", "e"]
    expected = dict(zip(given, multipletests(list(given.values()), method="holm")[1], strict=True))
    assert holm(given) == pytest.approx(expected)


def test_an_interval_holds_its_mean_and_narrows_with_questions():
    draw = np.random.default_rng(2)
    widths = []
    for count in (20, 2000):
        values = {"x": draw.random(count).tolist()}
        low, high = mean_intervals(values, resamples=500, seed=0)["x"]
        assert low < np.mean(values["x"]) < high
        widths.append(high - low)
    assert widths[1] < widths[0] / 5
    assert mean_intervals({"x": [0.5]}, resamples=0, seed=0) == {}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("q1 Q0 b 1 nan x", "line 2: the score 'nan' isn't a finite number"),
        ("q1 Q0 b 1 1e300 x", "a finite number"),
        ("q1 Q0 b 1 1_0x x", "a finite number"),
        ("q1 Q0 a 2 1.0 x", "line 2: a was returned for q1 before"),
        ("q1 Q0 b 2", "found 4 columns"),
        ("q1 Q0 b 1 1.0 \udcff", "isn't text in utf-8"),
    ],
)
def test_a_run_that_cannot_be_scored_says_which_line(tmp_path, line, why):
    qrels, run = write(tmp_path, [("q1", "a", 4)], [("q1", "a", 1.0)])
    run.write_bytes(run.read_bytes() + line.encode("utf-8", "surrogateescape") + b"\n")
    with pytest.raises(CommandError, match="run.txt: .*" + why):
        call_command("evaluate", "relevance", qrels=qrels, run=[run])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("q1 Q0 a 3", "line 2: q1 a has a label already"),
        ("q1 Q0 b 5x", "'5x' isn't a whole number"),
        ("q1 Q0 b 0", "the label 0 is below 1"),
        ("q1 Q0 b 128", "above 127"),
        ("q1 Q0 b", "found 3 columns"),
    ],
)
def test_labels_that_cannot_be_read_say_which_line(tmp_path, line, why):
    qrels, run = write(tmp_path, [("q1", "a", 4)], [("q1", "a", 1.0)])
    qrels.write_text(qrels.read_text() + line + "\n")
    with pytest.raises(CommandError, match="qrels.txt: .*" + why):
        call_command("evaluate", "relevance", qrels=qrels, run=[run])


def test_files_that_are_none_or_too_large_are_refused(tmp_path, monkeypatch):
    qrels, run = write(tmp_path, [("q1", "a", 4), ("q2", "a", 4)], [("q1", "a", 1.0), ("q1", "b", 2.0)])
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "long").write_text("q1 Q0 a 1 1.0 " + "x" * 70_000)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(run.read_bytes())[:-9])
    cases = {
        "absent": "line 1: .*No such file",
        "pipe": "isn't a file",
        ".": "isn't a file",
        "long": "line 1: .* longer than",
        "cut.gz": "damaged or cut short",
    }
    for path, why in cases.items():
        with pytest.raises(CommandError, match=why):
            call_command("evaluate", "relevance", qrels=qrels, run=[tmp_path / path])
    with pytest.raises(CommandError, match="answers no question that has labels"):
        call_command("evaluate", "relevance", qrels=write(tmp_path / "x", [("q9", "a", 4)], [])[0], run=[run])
    with pytest.raises(EvaluationError, match=r"run\.txt: has more than 1 lines"):
        list(text_lines(run, most=1))
    monkeypatch.setattr(files, "MOST_QUESTIONS", 1)
    with pytest.raises(CommandError, match="more than 1 are not scored at once"):
        call_command("evaluate", "relevance", qrels=qrels, run=[run])


def test_questions_of_the_blacklist_are_left_out(tmp_path, capsys):
    qrels, run = write(tmp_path, [("q1", "a", 4), ("q2", "a", 1)], [("q1", "a", 1.0), ("q2", "a", 1.0)])
    (tmp_path / "blacklist.txt").write_text("q2 an offensive question\n\n")
    call_command("evaluate", "relevance", qrels=qrels, run=[run], without=tmp_path / "blacklist.txt", json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["questions"], found["runs"][0]["metrics"]["MAP"], found["runs"][0]["without_labels"]) == (1, 1.0, 0)


def test_the_text_says_what_the_numbers_rest_on(tmp_path, capsys):
    qrels, run = write(tmp_path, [("q1", "a", 4), ("q2", "a", 1)], [("q1", "a", 1.0), ("q3", "a", 1.0)])
    other = write(tmp_path, [("q1", "a", 4), ("q2", "a", 1)], [("q1", "b", 1.0)], name="other\x1b[2J.txt")[1]
    call_command("evaluate", "relevance", qrels=qrels, run=[run, other], permutations=50)
    said = capsys.readouterr().out
    assert "2 questions with labels; 1 of them have no answer with label 3 or above" in said
    assert "1 questions are not answered and count 0" in said
    assert "MRR      run.txt - other\\x1b[2J.txt: +0.5000" in said
    assert all(line.isprintable() for line in said.splitlines())


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"relevant": 1}, "relevant labels begin above"),
        ({"permutations": 0}, "permutations"),
        ({"seed": -1}, "--seed"),
        ({"relevant": 10**14}, "127 at most"),
        ({"resamples": 10**11}, "between 0 and 1,000,000"),
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path, options, why):
    qrels, run = write(tmp_path, [("q1", "a", 4)], [("q1", "a", 1.0)])
    with pytest.raises(CommandError, match=why):
        call_command("evaluate", "relevance", qrels=qrels, run=[run], **options)


BROKEN = b"\x1f\x8b\x08\x00\0\0\0\0\0\x03" + b"\xff" * 100  # a head of gzip, and blocks that are none


def test_a_gzip_file_with_broken_blocks_is_damaged(tmp_path):
    (tmp_path / "bad.gz").write_bytes(BROKEN)
    with pytest.raises(EvaluationError, match="damaged or cut short"):
        list(text_lines(tmp_path / "bad.gz"))
    with pytest.raises(CommandError, match="1 errors in 0 records"):
        call_command("validate_nq", str(tmp_path / "bad.gz"))


@pytest.mark.peers
def test_negative_labels_are_judged_and_have_no_gain_as_in_trec_eval(tmp_path):
    import ir_measures

    qrels = [("q1", "d1", -2), ("q1", "d2", 1), ("q1", "d3", 3), ("q2", "d3", 2), ("q2", "d4", -1)]
    run = [
        ("q1", "d1", 9.5),
        ("q1", "d2", 8.5),
        ("q1", "d3", 2.5),
        ("q1", "d9", 1.5),
        ("q2", "d4", 9.5),
        ("q2", "d3", 1.5),
    ]
    found = scored(tmp_path, qrels, run, Convention(relevant=2, lowest=0, resamples=0))["runs"][0]
    theirs = ir_measures.calc_aggregate(
        [ir_measures.nDCG @ 3, ir_measures.AP(rel=2), ir_measures.P(rel=2) @ 3],
        [ir_measures.Qrel(*row) for row in qrels],
        [ir_measures.ScoredDoc(*row) for row in run],
    )
    of = {str(measure): value for measure, value in theirs.items()}
    assert found["metrics"]["nDCG@3"] == pytest.approx(of["nDCG@3"], abs=1e-12)
    assert found["metrics"]["MAP"] == pytest.approx(of["AP(rel=2)"], abs=1e-12)
    assert found["metrics"]["P@3"] == pytest.approx(of["P(rel=2)@3"], abs=1e-12)
    assert found["judged"]["@3"] == 1
    with pytest.raises(EvaluationError, match=r"line 1: the label 0 is below 1"):
        read_qrels(write(tmp_path, [("q1", "d1", 0)], run)[0], lowest=1)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_measure_that_is_alike_of_all_questions_is_no_certainty(value):
    low, high = mean_intervals({"x": [value] * 20}, resamples=100, seed=0)["x"]
    assert high - low == pytest.approx(0.161, abs=0.001)
    assert value in (low, high)
    assert mean_intervals({"x": [0.5] * 20}, resamples=100, seed=0)["x"] == (0.5, 0.5)
