"""A certificate of labels: what it promises, however the audit is stopped, and how many judgments it takes."""

import math

import pytest

from measures.certificates import Claim, RiskLimitingAudit, effort, interval
from tests.measures.certificate_worlds import first_certified, worlds


def test_the_first_bets_by_hand():
    audit = RiskLimitingAudit(Claim(100, error=0.1, risk=0.05, guess=0.05, weight=10))
    audit.add(is_wrong=False)
    first = (0.1 - 0.05) / (0.1 * 0.9)  # of the capital, for one right label
    assert math.exp(audit.log_capital) == pytest.approx(1 + first * 0.1)
    audit.add(is_wrong=True)
    least, rate = 10 / 99, 0.5 / 11
    second = (least - rate) / (least * (1 - least))
    assert math.exp(audit.log_capital) == pytest.approx((1 + first * 0.1) * (1 + second * (least - 1)))
    assert (audit.judged, audit.wrong, audit.is_certified) == (2, 1, False)


def test_many_audits_at_once_are_as_one_after_the_other():
    claim, wrong = Claim(300, error=0.1), worlds(300, 0.04, 40, 1)
    together = first_certified(claim, wrong)
    for row, needed in zip(wrong, together, strict=True):
        audit = RiskLimitingAudit(claim)
        for is_wrong in row:
            audit.add(is_wrong=bool(is_wrong))
            if audit.is_certified:
                break
        assert audit.judged == min(needed, 300)
        assert audit.is_certified is bool(needed <= 300)


@pytest.mark.parametrize(
    ("size", "error", "risk", "guess"), [(20, 0.5, 0.05, 0.0), (50, 0.02, 0.5, 0.0), (20, 0.05, 0.5, None)]
)
def test_one_audit_and_many_agree_at_ties_and_after_a_wrong_guess(size, error, risk, guess):
    claim = Claim(size, error, risk, guess)
    for wrong in (worlds(size, 0.0, 1, 1), worlds(size, 1 / size, 5, 2)):
        for row, needed in zip(wrong, first_certified(claim, wrong), strict=True):
            audit = RiskLimitingAudit(claim)
            for is_wrong in row:
                audit.add(is_wrong=bool(is_wrong))
                if audit.is_certified:
                    break
            assert (audit.judged, audit.is_certified) == (min(needed, size), bool(needed <= size))
            assert not math.isnan(audit.log_capital)


def test_all_labels_judged_is_certain():
    few = RiskLimitingAudit(Claim(10, error=0.05))
    for number in range(10):
        assert not few.is_certified, number
        few.add(is_wrong=False)
    assert few.is_certified
    right = RiskLimitingAudit(Claim(20, error=0.1))
    for number in range(20):
        right.add(is_wrong=number < 2)
    assert right.is_certified
    with pytest.raises(ValueError, match="all labels were judged"):
        right.add(is_wrong=False)
    wrong = RiskLimitingAudit(Claim(20, error=0.1))
    for number in range(20):
        wrong.add(is_wrong=number < 3)
    assert not wrong.is_certified


@pytest.mark.parametrize("size", [40, 500])
@pytest.mark.parametrize("share", [0.05, 0.1])
def test_false_certificates_are_as_rare_as_stated(size, share):
    """Exactly the stated share is wrong, and the audit stops at the best moment; 10,000 worlds are played by hand."""
    needed = first_certified(Claim(size, error=share), worlds(size, share, 2_000, 3))
    assert (needed <= size - 1).mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 2_000)


def test_a_guess_that_is_wrong_is_no_less_safe():
    for guess in (0.0, 0.001, 0.049, 0.5):
        needed = first_certified(Claim(400, guess=guess), worlds(400, 0.05, 2_000, 4))
        assert (needed <= 399).mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 2_000)


@pytest.mark.parametrize(("share", "judgments"), [(0.01, 139), (0.02, 249), (0.03, 640)])
def test_as_few_judgments_as_are_known_to_suffice(share, judgments):
    assert effort(Claim(5_000), share).mean < 1.1 * judgments


def test_an_audit_that_is_too_short_ends_without_a_certificate():
    found = effort(Claim(5_000), 0.04, most=100)
    assert 99 < found.mean <= 100 and found.certified < 0.05


def test_a_confidence_sequence_holds_at_all_times_together():
    """Of 300 audits, the share of those in which any of the intervals misses the share; looked at after each tenth."""
    missed = 0
    for row in worlds(400, 0.06, 300, 5):
        said = row.tolist()
        missed += any(not low <= 0.06 <= high for low, high in (interval(said[:n], 400) for n in range(20, 200, 30)))
    assert missed / 300 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 300)


def test_a_confidence_sequence_ends_at_the_truth():
    assert interval([False] * 19 + [True], 20) == (0.05, 0.05)
    assert interval([place < 3 for place in range(2_500)], 2_500) == (3 / 2_500, 3 / 2_500)
    low, high = interval([place == 9 for place in range(30_000)], 100_000)
    assert 0 < low < 1 / 30_000 < high < 0.002
    low, high = interval([False] * 200, 5_000)
    assert low == 0 and 0.01 < high < 0.04


@pytest.mark.parametrize("bad", [{"size": 0}, {"size": 9, "error": 0}, {"size": 9, "risk": 1}, {"size": 9, "guess": 1}])
def test_a_claim_makes_sense(bad):
    with pytest.raises(ValueError, match=r"a certificate is of|lie"):
        Claim(**bad)
