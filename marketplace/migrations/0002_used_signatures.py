"""Rows for signatures of requests that moved money."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='UsedSignature',
            fields=[
                ('signature', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('used_at', models.DateTimeField(db_index=True)),
            ],
        ),
    ]
