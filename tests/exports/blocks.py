"""What tests read of a file of KBQA."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from exports.formats.nlpcc import RULE, Block

LINE = re.compile(r"<(question|triple|answer) id=([0-9]{1,18})>\t(.*)", re.DOTALL)


def read_blocks(lines: Iterable[str]) -> Iterator[Block]:
    """Yield the blocks of a file whose lines are all in order, with or without their ends."""
    for is_rule, block in groupby((line.rstrip("\r\n") for line in lines), RULE.__eq__):
        if is_rule:
            continue
        parts = [LINE.fullmatch(line).groups() for line in block]
        (number,) = {int(number) for _kind, number, _text in parts}
        yield Block(number, **{kind: text for kind, _number, text in parts})
