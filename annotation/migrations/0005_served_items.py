"""What comes to a person at a certain point goes by the items that they were handed, not by what they submitted."""

from django.db import migrations, models
from django.db.models import F


def served(apps, schema_editor):
    apps.get_model("annotation", "Participation").objects.update(served=F("submitted"))


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_fewer_indexes")]

    operations = [
        migrations.AddField("injection", "is_replaced", models.BooleanField(default=False)),
        migrations.AddField("participation", "served", models.PositiveIntegerField(default=0)),
        migrations.AddField("participation", "planned_to", models.PositiveIntegerField(default=0)),
        migrations.RunPython(served, migrations.RunPython.noop),
    ]
