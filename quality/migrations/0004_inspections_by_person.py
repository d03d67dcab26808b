"""The share of work that is read is that of each annotator."""


import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0010_addresses_given_up'),
        ('annotation', '0005_served_items'),
        ('quality', '0003_every_task_type'),
    ]

    operations = [
        migrations.CreateModel(
            name='InspectionTally',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('carry', models.FloatField()),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.campaign')),
                ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'surrogate'), name='inspection_tally_once')],
            },
        ),
    ]
