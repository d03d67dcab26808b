"""The output of commands for other programs."""

from typing import Any

import orjson


def json_line(value: Any) -> str:
    """Return a value as JSON on one line: NaN and infinity become null, because JSON cannot write them.

    Examples
    --------
    >>> json_line({"alpha": float("nan"), "label": "很好"})
    '{"alpha":null,"label":"很好"}'
    """
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY).decode()
