"""Foreign keys that begin an index of several columns need none of their own: each index costs every insert.

By hand, because SQLite would make the tables anew, without their triggers.
"""

import django.db.models.deletion
from django.db import migrations, models

INDEXES = [
    ('annotation_slot', 'item_id', '72f3fa2e'), ('annotation_item', 'campaign_id', '83b9ec73'),
    ('annotation_item', 'batch_id', '3b1911f8'), ('annotation_item', 'split_id', '135191d4'),
    ('annotation_assignment', 'surrogate_id', '8434d929'),
    ('annotation_assignment', 'guideline_id', '470e6afc'), ('annotation_annotation', 'campaign_id', '0f35131f'),
    ('annotation_annotation', 'guideline_id', 'e107f3fe'),
]
STATE = [
    migrations.AlterField(
        model_name='annotation',
        name='campaign',
        field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='annotations', to='annotation.campaign'),
    ),
    migrations.AlterField(
        model_name='annotation',
        name='guideline',
        field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.guideline'),
    ),
    migrations.AlterField(
        model_name='assignment',
        name='guideline',
        field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.guideline'),
    ),
    migrations.AlterField(
        model_name='assignment',
        name='surrogate',
        field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='accounts.surrogate'),
    ),
    migrations.AlterField(
        model_name='item',
        name='batch',
        field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='items', to='annotation.batch'),
    ),
    migrations.AlterField(
        model_name='item',
        name='campaign',
        field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='items', to='annotation.campaign'),
    ),
    migrations.AlterField(
        model_name='item',
        name='split',
        field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='items', to='annotation.split'),
    ),
    migrations.AlterField(
        model_name='slot',
        name='item',
        field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='annotation.item'),
    ),
]


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0009_former_roles'),
        ('annotation', '0003_given_back'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=STATE,
            database_operations=[
                migrations.RunSQL(
                    f'DROP INDEX IF EXISTS "{table}_{column}_{digest}"',
                    f'CREATE INDEX IF NOT EXISTS "{table}_{column}_{digest}" ON "{table}" ("{column}")',
                )
                for table, column, digest in INDEXES
            ],
        ),
    ]
