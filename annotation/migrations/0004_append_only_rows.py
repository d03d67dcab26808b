"""Let the database refuse changes of answers (again: SQLite forgot when the table was rebuilt) and of the ledger."""

from django.db import migrations

SQLITE = [
    "DROP TRIGGER IF EXISTS answer_no_update",
    """CREATE TRIGGER answer_no_update BEFORE UPDATE OF answer ON annotation_annotation
       WHEN NEW.answer IS NOT OLD.answer AND NEW.redacted_at IS NULL
       BEGIN SELECT RAISE(ABORT, 'a submitted answer never changes'); END""",
    """CREATE TRIGGER ledger_no_update BEFORE UPDATE ON annotation_ledgerentry
       BEGIN SELECT RAISE(ABORT, 'a ledger entry never changes'); END""",
]
POSTGRESQL = [
    """CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'a ledger entry never changes'; END $$""",
    """CREATE TRIGGER ledger_no_update BEFORE UPDATE ON annotation_ledgerentry
       FOR EACH ROW EXECUTE FUNCTION ledger_refuse()""",
]


def forwards(apps, schema_editor):
    for statement in SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL:
        schema_editor.execute(statement)


def backwards(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER ledger_no_update")
    else:
        schema_editor.execute("DROP TRIGGER ledger_no_update ON annotation_ledgerentry")
        schema_editor.execute("DROP FUNCTION ledger_refuse")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_workforces")]
    operations = [migrations.RunPython(forwards, backwards)]
