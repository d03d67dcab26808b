"""Rows for permissions to manage a campaign and to judge in it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_visits_are_claims'),
    ]

    operations = [
        migrations.CreateModel(
            name='RoleWaiver',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(max_length=500)),
                ('at', models.DateTimeField()),
                ('granted_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ('scope', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='role_waivers', to='accounts.scope')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('scope', 'user'), name='role_waiver_once')],
            },
        ),
    ]
