"""Give each workforce an address that cannot be guessed and a secret to sign with, and each unsigned visit an id."""

import secrets

from django.db import migrations, models

import workforces.models


def keys_give(apps, schema_editor):
    for row in apps.get_model('workforces', 'Workforce').objects.iterator():
        row.key, row.secret = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        row.save(update_fields=['key', 'secret'])


class Migration(migrations.Migration):
    dependencies = [('workforces', '0001_initial'), ('accounts', '0004_visits_are_claims')]
    operations = [
        migrations.AddField('ticket', 'visit', models.UUIDField(null=True, unique=True)),
        migrations.AddField('workforce', 'key', models.CharField(editable=False, max_length=43, null=True)),
        migrations.AddField(
            'workforce',
            'secret',
            models.CharField(default=workforces.models.new_token, editable=False, max_length=43),
        ),
        migrations.RunPython(keys_give, migrations.RunPython.noop),
        migrations.AlterField(
            'workforce',
            'key',
            models.CharField(default=workforces.models.new_token, editable=False, max_length=43, unique=True),
        ),
    ]
