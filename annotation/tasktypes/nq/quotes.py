"""Finding a text on a page, so that gold questions can quote it instead of giving numbers of boxes and tokens."""

from documents.html.tokens import Tokenization


def spans_of_text(text: str, page: Tokenization, start: int, end: int) -> list[list[int]]:
    """Return the places of a text between two tokens, as spans of whole words; blanks, case and tags don't matter."""
    wanted = "".join(text.split()).casefold()
    joined, starts, ends = "", {}, {}
    for number in range(start, end):
        if not page.is_tag[number]:
            starts[len(joined)] = number
            joined += page.texts[number].casefold()
            ends[len(joined)] = number + 1
    found, place = [], joined.find(wanted) if wanted else -1
    while place != -1:
        first, last = starts.get(place), ends.get(place + len(wanted))
        if first is not None and last is not None:
            found.append([first, last])
        place = joined.find(wanted, place + 1)
    return found


def boxes_of_text(text: str, page: Tokenization) -> list[int]:
    """Return the smallest box around each occurrence of a text, in document order, without duplicates."""
    found = set()
    for start, end in spans_of_text(text, page, 0, len(page.texts)):
        around = [
            (box.end_token - box.start_token, number)
            for number, box in enumerate(page.candidates)
            if box.start_token <= start and end <= box.end_token
        ]
        if around:
            found.add(min(around)[1])
    return sorted(found)
