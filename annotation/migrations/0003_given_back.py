"""An index of what annotators gave back."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_visits_are_claims'),
        ('annotation', '0002_visits_are_claims'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(condition=models.Q(('state__in', ['expired', 'released'])), fields=['campaign', 'surrogate'], name='assignment_given_back'),
        ),
    ]
