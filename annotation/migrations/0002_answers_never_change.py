"""Let the database refuse any change of a submitted answer but an audited redaction."""

from django.db import migrations

SQLITE = """
CREATE TRIGGER answer_no_update BEFORE UPDATE OF answer ON annotation_annotation
WHEN NEW.answer IS NOT OLD.answer AND NEW.redacted_at IS NULL
BEGIN SELECT RAISE(ABORT, 'a submitted answer never changes'); END
"""
POSTGRESQL = [
    """CREATE FUNCTION answer_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'a submitted answer never changes'; END $$""",
    """CREATE TRIGGER answer_no_update BEFORE UPDATE OF answer ON annotation_annotation
       FOR EACH ROW WHEN (NEW.answer IS DISTINCT FROM OLD.answer AND NEW.redacted_at IS NULL)
       EXECUTE FUNCTION answer_refuse()""",
]


def forwards(apps, schema_editor):
    for statement in [SQLITE] if schema_editor.connection.vendor == "sqlite" else POSTGRESQL:
        schema_editor.execute(statement)


def backwards(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER answer_no_update")
    else:
        schema_editor.execute("DROP TRIGGER answer_no_update ON annotation_annotation")
        schema_editor.execute("DROP FUNCTION answer_refuse")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]
    operations = [migrations.RunPython(forwards, backwards)]
