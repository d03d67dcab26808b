"""Statistics on the wording of questions."""

from collections import Counter
from collections.abc import Iterable

_PUNCTUATION = ".,;:!?…\"'“”‘’()[]¿¡。，；：！？（）「」"


def starting_trigrams(questions: Iterable[str], most: int = 40) -> list[tuple[str, int]]:
    """Return the most frequent first three words of questions, with their counts (Hashemi et al. 2020, Figure 1).

    Words are separated by blanks, lowercased, and stripped of surrounding punctuation; shorter questions count with all
    their words. Equally frequent trigrams are sorted alphabetically.

    Examples
    --------
    >>> starting_trigrams(["How do you cook rice?", "How do you, then?", "Why?"])
    [('how do you', 2), ('why', 1)]
    """
    counts = Counter(
        " ".join(word.strip(_PUNCTUATION) for word in question.lower().split()[:3]) for question in questions
    )
    return sorted(counts.items(), key=lambda row: (-row[1], row[0]))[:most]
