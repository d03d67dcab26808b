"""A release that could not be written says so, and why."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("exports", "0001_initial")]

    operations = [
        migrations.AddField("release", "problem", models.CharField(blank=True, db_default="", default="", max_length=500)),
        migrations.AlterField(
            "release",
            "state",
            models.CharField(
                choices=[("writing", "Being written"), ("ready", "Ready"), ("failed", "Failed")],
                default="writing",
                max_length=10,
            ),
        ),
    ]
