"""Rows for withdrawals that can still be taken back."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_visits_are_claims'),
        ('annotation', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Withdrawal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('asked_at', models.DateTimeField()),
                ('due_at', models.DateTimeField(db_index=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='withdrawals', to='annotation.campaign')),
                ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'surrogate'), name='withdrawal_once')],
            },
        ),
    ]
