"""The tools whose exports can be read."""

from sources.rules.tools import argilla, doccano, label_studio, mturk, potato, toloka, trec

TOOLS = {
    "argilla": argilla.TOOL,
    "doccano": doccano.TOOL,
    "label-studio": label_studio.TOOL,
    "mturk": mturk.TOOL,
    "potato": potato.TOOL,
    "toloka": toloka.TOOL,
    "trec": trec.TOOL,
}
