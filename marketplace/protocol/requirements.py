"""Qualification requirements: which actions they guard and whether a worker meets them.

A requirement is a dict in the shape ``QualificationRequirement`` with ``ActionsGuarded`` filled in.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from marketplace.protocol.errors import RequestError

PERCENT_APPROVED = "000000000000000000L0"
NUMBER_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
SYSTEM = {PERCENT_APPROVED, NUMBER_APPROVED, LOCALE, ADULT}
MASTERS = {"2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"}

MAX_REQUIREMENTS = 10
MAX_INTEGERS = 15
MAX_LOCALES = 30
ACTIONS = ("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept")

Values = Mapping[str, Any]
"""What a worker holds: type id → integer, or (country, subdivision), or None for a value-less grant."""


def normalise(requirements: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return requirements with defaults filled in, as the original service returned them.

    Raises
    ------
    RequestError
        A requirement contradicts itself.
    """
    listed = [_normalised(number, dict(given)) for number, given in enumerate(requirements)]
    if len(listed) > MAX_REQUIREMENTS:
        raise _wrong(f"QualificationRequirements may hold at most {MAX_REQUIREMENTS}, not {len(listed)}.")
    return listed


def unmet(requirements: Iterable[Mapping[str, Any]], values: Values, action: str) -> list[Mapping[str, Any]]:
    """Return the requirements that prevent a worker from an action (``Accept``, ``Preview`` or ``Discover``)."""
    return [
        requirement
        for requirement in requirements
        if action in requirement["ActionsGuarded"] and not is_met(requirement, values)
    ]


def is_met(requirement: Mapping[str, Any], values: Values) -> bool:
    """Return whether a worker's qualifications meet one requirement."""
    comparator = requirement["Comparator"]
    held = requirement["QualificationTypeId"] in values
    if comparator in ("Exists", "DoesNotExist"):
        return held is (comparator == "Exists")
    if not held:
        return False
    value = values[requirement["QualificationTypeId"]]
    if requirement["QualificationTypeId"] == LOCALE:
        return _locale_meets(comparator, value, requirement["LocaleValues"])
    return value is not None and _integer_meets(comparator, value, requirement["IntegerValues"])


def _integer_meets(comparator: str, value: int, wanted: list[int]) -> bool:
    first = wanted[0]
    return {
        "LessThan": value < first,
        "LessThanOrEqualTo": value <= first,
        "GreaterThan": value > first,
        "GreaterThanOrEqualTo": value >= first,
        "EqualTo": value == first,
        "NotEqualTo": value != first,
        "In": value in wanted,
        "NotIn": value not in wanted,
    }[comparator]


def _locale_meets(comparator: str, value: tuple[str, str], wanted: list[dict[str, str]]) -> bool:
    country, subdivision = value
    among = any(country == locale["Country"] and locale.get("Subdivision") in (None, subdivision) for locale in wanted)
    return among is (comparator in ("EqualTo", "In"))


def _normalised(number: int, given: dict[str, Any]) -> dict[str, Any]:
    where = f"QualificationRequirements[{number}]"
    kind, comparator = given["QualificationTypeId"], given["Comparator"]
    integers, locales = given.get("IntegerValues") or [], given.get("LocaleValues") or []
    if comparator in ("Exists", "DoesNotExist"):
        if integers or locales:
            raise _wrong(f"{where}: {comparator} takes no values.")
    elif kind == LOCALE:
        _check_locales(where, comparator, integers, locales)
    else:
        _check_integers(where, comparator, integers, locales)
    before = bool(given.pop("RequiredToPreview", False))
    if before and given.get("ActionsGuarded"):
        raise _wrong(f"{where}: give RequiredToPreview or ActionsGuarded, not both.")
    guarded = given.pop("ActionsGuarded", None) or ("PreviewAndAccept" if before else "Accept")
    return {**given, "ActionsGuarded": guarded, "RequiredToPreview": guarded != "Accept"}


def _check_locales(where: str, comparator: str, integers: list[int], locales: list[dict[str, str]]) -> None:
    if comparator not in ("EqualTo", "NotEqualTo", "In", "NotIn") or integers or not locales:
        raise _wrong(f"{where}: Worker_Locale takes EqualTo, NotEqualTo, In or NotIn with LocaleValues.")
    most = MAX_LOCALES if comparator in ("In", "NotIn") else 1
    if len(locales) > most:
        raise _wrong(f"{where}: {comparator} takes at most {most} LocaleValues, not {len(locales)}.")


def _check_integers(where: str, comparator: str, integers: list[int], locales: list[dict[str, str]]) -> None:
    if locales or not integers:
        raise _wrong(f"{where}: {comparator} on this type takes IntegerValues.")
    most = MAX_INTEGERS if comparator in ("In", "NotIn") else 1
    if len(integers) > most:
        raise _wrong(f"{where}: {comparator} takes at most {most} IntegerValues, not {len(integers)}.")


def _wrong(message: str) -> RequestError:
    return RequestError("InvalidParameterValue", message)
