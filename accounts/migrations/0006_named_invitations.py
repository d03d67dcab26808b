"""Invitations to named people, at one domain, with a hint where several came from one address."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0005_role_waivers'),
    ]

    operations = [
        migrations.AddField(
            model_name='invitation',
            name='email',
            field=models.EmailField(blank=True, max_length=254),
        ),
        migrations.AddField(
            model_name='invitationuse',
            name='mark',
            field=models.CharField(blank=True, max_length=16),
        ),
        migrations.AddField(
            model_name='scope',
            name='email_domain',
            field=models.CharField(blank=True, max_length=200),
        ),
    ]
