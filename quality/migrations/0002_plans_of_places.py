"""How far an annotator's gold is planned stands with their place, where each claim sees it."""

from django.db import migrations


def move(apps, schema_editor):
    places = apps.get_model("annotation", "Participation").objects
    for plan in apps.get_model("quality", "GoldPlan").objects.iterator():
        places.filter(campaign_id=plan.campaign_id, surrogate_id=plan.surrogate_id).update(planned_to=plan.planned_to)


class Migration(migrations.Migration):
    dependencies = [("quality", "0001_initial"), ("annotation", "0005_served_items")]

    operations = [migrations.RunPython(move, migrations.RunPython.noop), migrations.DeleteModel("GoldPlan")]
