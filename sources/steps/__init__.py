"""The steps from raw material towards items, by name."""

from sources.step import Step
from sources.steps import bm25, elsewhere, heuristics, kinds, pages, pool, queries, questions, sentences, triples

STEPS: dict[str, Step] = {
    step.KEY: step for step in (queries, kinds, heuristics, pages, questions, bm25, pool, triples, sentences, elsewhere)
}
