"""Rows for whom unconfirmed visits say they are."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_external_identities'),
    ]

    operations = [
        migrations.CreateModel(
            name='ClaimedIdentity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=100)),
                ('name', models.CharField(max_length=200)),
                ('surrogate', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='claimed', to='accounts.surrogate')),
            ],
            options={
                'indexes': [models.Index(fields=['source', 'name'], name='claimed_identity_by_name')],
            },
        ),
    ]
