"""Roles that people had: what they saw by them they have seen."""
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0008_forgotten_identities'),
    ]

    operations = [
        migrations.CreateModel(
            name='FormerRole',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('annotator', 'Annotator'), ('expert', 'Expert'), ('manager', 'Manager'), ('researcher', 'Researcher')], max_length=20)),
                ('at', models.DateTimeField()),
                ('scope', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.scope')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('scope', 'user', 'role'), name='former_role_once')],
            },
        ),
    ]
