"""The table of the pages that items refer to."""

from collections.abc import Iterator

from annotation.models import Item
from annotation.tasktypes.columns import Column, Kind
from documents.models import Tokenization
from exports.formats.tables import Row, Table, chunks
from exports.tables.items import CHUNK

_COLUMNS = (
    Column("document_sha256", Kind.TEXT, "Of its canonical bytes in UTF-8, which all offsets count."),
    Column("title", Kind.TEXT, "Of the page."),
    Column("url", Kind.TEXT, "Where it was taken from; empty if that is not known."),
    Column("bytes", Kind.INTEGER, "Of the page."),
    Column("tokenizer", Kind.TEXT, "Source and version of its tokens and boxes."),
    Column("tokens", Kind.INTEGER, "How many tokens it has."),
    Column("boxes", Kind.INTEGER, "How many boxes can be a long answer."),
)


def documents_table(order: list[int]) -> Table:
    """Return the table of documents, in the order in which items first refer to them."""

    def rows() -> Iterator[Row]:
        seen: set[int] = set()
        for chunk in chunks(order, CHUNK):
            pages = dict(Item.objects.filter(pk__range=(chunk[0], chunk[-1])).values_list("pk", "tokenization_id"))
            new = list(dict.fromkeys(pages[pk] for pk in chunk if pages[pk] not in seen))
            seen.update(one for one in new if one is not None)
            found = Tokenization.objects.select_related("document").in_bulk([one for one in new if one is not None])
            for page in (found[one] for one in new if one is not None):
                document, tokenizer = page.document, f"{page.source}/{page.version}"
                yield (
                    document.sha256,
                    document.title,
                    document.url,
                    document.size,
                    tokenizer,
                    page.token_count,
                    page.candidate_count,
                )

    return Table("documents", "One row a page and tokenizer.", _COLUMNS, rows)
