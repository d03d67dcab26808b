"""The steps from raw material towards items, by their names."""

from sources.step import Step
from sources.steps import bm25, pool, questions

STEPS: dict[str, Step] = {step.KEY: step for step in (questions, bm25, pool)}
