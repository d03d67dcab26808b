"""The windows of BERT joint once more, written down as the facts say it: slowly, from texts, without the project's code."""

import unicodedata

SPACES = " \t\r\n\u202f"


def basic(text):
    """Return the words of a text as BERT's basic tokenizer does: lower case, no accents, signs and Chinese apart."""
    found, word = [], ""
    for sign in unicodedata.normalize("NFD", text.lower()):
        if unicodedata.category(sign) == "Mn":
            continue
        number = ord(sign)
        apart = unicodedata.category(sign).startswith("P") or (
            number < 127 and not sign.isalnum() and not sign.isspace()
        )
        apart = apart or 0x4E00 <= number <= 0x9FFF or 0x3400 <= number <= 0x4DBF or 0xF900 <= number <= 0xFAFF
        if sign.isspace() or apart:
            found, word = [*found, word], ""
            found += [sign] if apart else []
        else:
            word += sign
    return [one for one in [*found, word] if one]


def word_pieces(word, vocabulary):
    if len(word) > 200:
        return ["[UNK]"]
    found, start = [], 0
    while start < len(word):
        ends = [end for end in range(len(word), start, -1) if ("##" if start else "") + word[start:end] in vocabulary]
        if not ends:
            return ["[UNK]"]
        found.append(("##" if start else "") + word[start : ends[0]])
        start = ends[0]
    return found


def pieces(token, vocabulary):
    if token[:1] == "[" and token[-1:] == "]" and " " not in token:
        return [token if token in vocabulary else "[UNK]"]
    return [piece for word in basic(token) for piece in word_pieces(word, vocabulary)]


def page(record):
    """Return the words of a page with markup, each with its token, or None."""
    words, seen = [("[ContextId=-1]", None), ("[NoLongAnswer]", None)], {}
    written = 1
    for number, box in enumerate(record["long_answer_candidates"]):
        if not box["top_level"]:
            continue
        if written == 48:
            break
        tag = record["document_tokens"][box["start_token"]]["token"]
        kind = {"<P>": "Paragraph", "<Table>": "Table"}.get(tag, "List" if tag in ("<Ul>", "<Ol>", "<Dl>") else "Other")
        seen[kind] = min(50, seen.get(kind, 0) + 1)
        written += 1
        words += [(f"[ContextId={number}]", None), (f"[{kind}={seen[kind]}]", None)]
        for place in range(box["start_token"], box["end_token"]):
            token = record["document_tokens"][place]
            if not token["html_token"] and token["token"].replace(" ", ""):
                words.append((token["token"].replace(" ", ""), place))
    return words


def target(record):
    """Return the tokens of the answer and its kind, or None."""
    answers = [one for one in record["annotations"] if one["long_answer"]["candidate_index"] >= 0]
    answers.sort(key=lambda one: one["long_answer"]["candidate_index"])
    for one in answers:
        if one["short_answers"]:
            return one["short_answers"][0]["start_token"], one["short_answers"][-1]["end_token"], 3
    if not answers:
        return None
    box = answers[0]["long_answer"]
    return box["start_token"], box["end_token"], {"YES": 1, "NO": 2, "NONE": 4}[answers[0]["yes_no_answer"]]


def windows(record, vocabulary, length=512, stride=128):
    """Yield the windows of a record: pieces, segments, tokens, first and last piece of the answer, kind."""
    question = ["[Q]"] + [piece for word in record["question_text"].split() for piece in pieces(word, vocabulary)]
    question = question[-64:]
    whole = [(piece, place) for word, place in page(record) for piece in pieces(word, vocabulary)]
    answer = target(record)
    start, room = 0, length - len(question) - 3
    while True:
        part = whole[start : start + room]
        shown = ["[CLS]", *question, "[SEP]", *(piece for piece, _ in part), "[SEP]"]
        places = [-1] * (len(question) + 2) + [-1 if place is None else place for _, place in part]
        segments = [0] * (len(question) + 2) + [1] * (len(part) + 1)
        first = last = kind = 0
        if answer is not None:
            of_answer = [
                at for at, (_, place) in enumerate(whole) if place is not None and answer[0] <= place < answer[1]
            ]
            if of_answer and start <= of_answer[0] and of_answer[-1] < start + len(part):
                first, last = (at - start + len(question) + 2 for at in (of_answer[0], of_answer[-1]))
                kind = answer[2]
        pad = length - len(shown)
        yield shown + ["[PAD]"] * pad, segments + [0] * pad, places + [-1] * (length - len(places)), first, last, kind
        if start + room >= len(whole):
            return
        start += min(room, stride)
