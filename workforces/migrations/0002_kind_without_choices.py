"""The kinds of workforces are listed in `workforces.kinds.registry`; the column itself stays as it is."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workforces", "0001_initial")]

    operations = [migrations.AlterField(model_name="workforce", name="kind", field=models.CharField(max_length=10))]
