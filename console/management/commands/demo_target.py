"""``manage.py demo_target``: votes where the doubt is, with a synthetic crowd, over the real protocol."""

from typing import Any

from console.demo.stage import Plan
from console.demo.target import run
from console.management.processes import ProcessCommand
from console.terminals import Say


class Command(ProcessCommand):
    """Run the process from first votes to a measured error."""

    help = (
        "Start a marketplace and a platform, post the demo's pairs as HITs, and buy votes where labels are doubtful until five "
        "of a thousand are expected to be wrong: a first budget that is spent, waves, experts for the rest, an audit that says "
        "how much to believe the model, one that measures what came of it. The campaign stays for looking at."
    )

    pairs, least_pairs = 40, 35  # an audit takes thirty labels
    kills = "kill the job worker once in each of so many phases"

    def process(self, plan: Plan, say: Say) -> dict[str, Any]:
        """Run it."""
        return run(plan, say)

    def rows(self, result: dict[str, Any]) -> list[tuple[str, Any]]:
        """Return what was bought, what was expected and what was measured."""
        error = result["label_error"]
        return [
            ("stopped by", ", then ".join(result["stops"])),
            ("waves", result["waves"]),
            ("votes bought", result["votes_bought"]),
            ("pairs that experts decided", result["cases"]),
            ("spent beyond the first votes", f"${result['spent_cents'] / 100:.2f}"),
            ("expected to be wrong", f"{result['predicted']:.1%}"),
            (
                "measured",
                f"{error['share']:.1%} (95 % {error['low']:.1%} to {error['high']:.1%}) of {error['judged']} judged",
            ),
            ("really wrong", f"{result['wrong']} of {result['labels']}"),
            ("differences in the books", len(result["books"]["differences"])),
        ]
