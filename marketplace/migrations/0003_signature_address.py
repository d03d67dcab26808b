"""The address that a signed request came from, beside its signature."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0002_used_signatures'),
    ]

    operations = [
        migrations.AddField(
            model_name='usedsignature',
            name='address',
            field=models.CharField(blank=True, max_length=45),
        ),
    ]
