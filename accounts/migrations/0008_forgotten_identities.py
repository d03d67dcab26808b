"""Marks of people who were erased: they are known when they come back."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0007_waivers_outlive_accounts'),
    ]

    operations = [
        migrations.CreateModel(
            name='ForgottenIdentity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('mark', models.CharField(max_length=64, unique=True)),
                ('at', models.DateTimeField()),
            ],
        ),
    ]
