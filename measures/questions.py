"""What questions of a collection look like."""

from collections import Counter
from collections.abc import Iterable

_PUNCTUATION = ".,;:!?…\"'“”‘’()[]¿¡。，；：！？（）「」"


def starting_trigrams(questions: Iterable[str], most: int = 40) -> list[tuple[str, int]]:
    """Return the first three words that questions begin with most often, and of how many (Hashemi et al. 2020, Figure 1).

    Words are what lies between blanks, in small letters and without punctuation around them; shorter questions count with
    what they have. Of equally frequent ones the first in the alphabet comes first.

    Examples
    --------
    >>> starting_trigrams(["How do you cook rice?", "How do you, then?", "Why?"])
    [('how do you', 2), ('why', 1)]
    """
    counts = Counter(
        " ".join(word.strip(_PUNCTUATION) for word in question.lower().split()[:3]) for question in questions
    )
    return sorted(counts.items(), key=lambda row: (-row[1], row[0]))[:most]
