"""Let the database refuse any change of the audit trail."""

from django.db import migrations

SQLITE = [
    """CREATE TRIGGER audit_no_update BEFORE UPDATE ON accounts_auditevent
       BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END""",
    """CREATE TRIGGER audit_no_delete BEFORE DELETE ON accounts_auditevent
       BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END""",
]
POSTGRESQL = [
    """CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$""",
    """CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON accounts_auditevent
       FOR EACH ROW EXECUTE FUNCTION audit_refuse()""",
]


def forwards(apps, schema_editor):
    for statement in SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL:
        schema_editor.execute(statement)


def backwards(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER audit_no_update")
        schema_editor.execute("DROP TRIGGER audit_no_delete")
    else:
        schema_editor.execute("DROP TRIGGER audit_no_change ON accounts_auditevent")
        schema_editor.execute("DROP FUNCTION audit_refuse")


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunPython(forwards, backwards)]
