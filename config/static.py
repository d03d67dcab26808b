"""Static files with hashed names, also inside the imports of ES modules."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped library
    """Rewrite ``import`` paths too, so that a module and what it imports always fit together."""

    support_js_module_import_aggregation = True
