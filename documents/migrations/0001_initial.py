import django.db.models.deletion
from django.db import migrations, models

from database.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Document',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('sha256', models.CharField(max_length=64)),
                    ('title', models.CharField(max_length=500)),
                    ('url', models.CharField(blank=True, max_length=2000)),
                    ('size', models.PositiveBigIntegerField()),
                    ('created_at', models.DateTimeField()),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('sha256', 'title', 'url'), name='document_once')],
                },
            ),
            migrations.CreateModel(
                name='Tokenization',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('source', models.CharField(max_length=30)),
                    ('version', models.PositiveIntegerField()),
                    ('sha256', models.CharField(max_length=64)),
                    ('token_count', models.PositiveIntegerField()),
                    ('candidate_count', models.PositiveIntegerField()),
                    ('created_at', models.DateTimeField()),
                    ('document', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tokenizations', to='documents.document')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('document', 'source', 'version', 'sha256'), name='tokenization_once')],
                },
            ),
        ]),
    ]
