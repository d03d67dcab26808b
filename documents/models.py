"""Documents by content, and their tokens and candidates. The bytes are in file storage, not in rows."""

from django.db import models


class Document(models.Model):
    """The canonical bytes of a page, under one title and address."""

    sha256 = models.CharField(max_length=64)
    title = models.CharField(max_length=500)
    url = models.CharField(max_length=2000, blank=True)
    size = models.PositiveBigIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sha256", "title", "url"], name="document_once")]

    def __str__(self) -> str:
        return self.title or self.sha256[:12]


class Tokenization(models.Model):
    """The tokens and candidates of a document by one source and version; items pin one."""

    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="tokenizations")
    source = models.CharField(max_length=30)
    version = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    token_count = models.PositiveIntegerField()
    candidate_count = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["document", "source", "version", "sha256"], name="tokenization_once")
        ]

    def __str__(self) -> str:
        return f"{self.source}/{self.version} of {self.document_id}"
