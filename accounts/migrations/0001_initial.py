import accounts.models
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models

from database.migrations import CreateModels


SQLITE = [
    """CREATE TRIGGER audit_no_update BEFORE UPDATE ON accounts_auditevent
       BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END""",
    """CREATE TRIGGER audit_no_delete BEFORE DELETE ON accounts_auditevent
       BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END""",
]
POSTGRESQL = [
    """CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$""",
    """CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON accounts_auditevent
       FOR EACH ROW EXECUTE FUNCTION audit_refuse()""",
]


def forwards(apps, schema_editor):
    """Let the database refuse any change of the audit trail."""
    for statement in SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL:
        schema_editor.execute(statement)


def backwards(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER audit_no_update")
        schema_editor.execute("DROP TRIGGER audit_no_delete")
    else:
        schema_editor.execute("DROP TRIGGER audit_no_change ON accounts_auditevent")
        schema_editor.execute("DROP FUNCTION audit_refuse")


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Scope',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('email_domain', models.CharField(blank=True, max_length=200)),
                ],
            ),
            migrations.CreateModel(
                name='Surrogate',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('erased_at', models.DateTimeField(blank=True, null=True)),
                    ('key', models.BinaryField(null=True)),
                ],
            ),
            migrations.CreateModel(
                name='User',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('password', models.CharField(max_length=128, verbose_name='password')),
                    ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                    ('email', models.EmailField(max_length=254, unique=True, verbose_name='email address')),
                    ('name', models.CharField(blank=True, max_length=150, verbose_name='name')),
                    ('key', models.BinaryField(default=accounts.models.new_key)),
                    ('is_active', models.BooleanField(default=True)),
                    ('is_admin', models.BooleanField(default=False)),
                    ('date_joined', models.DateTimeField(auto_now_add=True)),
                    ('surrogate', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='user', to='accounts.surrogate')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='ForgottenIdentity',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('mark', models.CharField(max_length=64, unique=True)),
                    ('at', models.DateTimeField()),
                    ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='ConsentText',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('purpose', models.TextField(verbose_name='purpose')),
                    ('recorded', models.TextField(verbose_name='what is recorded and for how long')),
                    ('contact', models.CharField(max_length=300, verbose_name='contact')),
                    ('approval_id', models.CharField(blank=True, max_length=100, verbose_name='ethics approval')),
                    ('tells_behaviour', models.BooleanField(default=False)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('scope', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='consent_texts', to='accounts.scope')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('scope', 'version'), name='consent_text_version')],
                },
            ),
            migrations.CreateModel(
                name='RoleWaiver',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('reason', models.CharField(max_length=500)),
                    ('at', models.DateTimeField()),
                    ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('scope', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='role_waivers', to='accounts.scope')),
                    ('granted_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('scope', 'user'), name='role_waiver_once')],
                },
            ),
            migrations.CreateModel(
                name='Invitation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.CharField(choices=[('annotator', 'Annotator'), ('expert', 'Expert'), ('manager', 'Manager'), ('researcher', 'Researcher')], max_length=20)),
                    ('token_sha256', models.CharField(max_length=64, unique=True)),
                    ('email', models.EmailField(blank=True, max_length=254)),
                    ('label', models.CharField(blank=True, max_length=200)),
                    ('note', models.CharField(blank=True, max_length=200)),
                    ('uses_left', models.PositiveIntegerField(default=1)),
                    ('expires_at', models.DateTimeField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('scope', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='accounts.scope')),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
            ),
            migrations.CreateModel(
                name='ExternalIdentity',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('source', models.CharField(max_length=100)),
                    ('name', models.CharField(max_length=200)),
                    ('key', models.BinaryField(default=accounts.models.new_key)),
                    ('surrogate', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='external', to='accounts.surrogate')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('source', 'name'), name='external_identity_once')],
                },
            ),
            migrations.CreateModel(
                name='Consent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('given_at', models.DateTimeField()),
                    ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                    ('text', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consents', to='accounts.consenttext')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consents', to='accounts.surrogate')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(condition=models.Q(('withdrawn_at', None)), fields=('text', 'surrogate'), name='consent_once')],
                },
            ),
            migrations.CreateModel(
                name='ClaimedIdentity',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('source', models.CharField(max_length=100)),
                    ('name', models.CharField(max_length=200)),
                    ('surrogate', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='claimed', to='accounts.surrogate')),
                ],
                options={
                    'indexes': [models.Index(fields=['source', 'name'], name='claimed_identity_by_name')],
                },
            ),
            migrations.CreateModel(
                name='AuditEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField()),
                    ('action', models.CharField(max_length=60)),
                    ('subject', models.CharField(max_length=100)),
                    ('data', models.JSONField(default=dict)),
                    ('scope', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.scope')),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'indexes': [models.Index(fields=['scope', 'id'], name='audit_by_scope')],
                },
            ),
            migrations.CreateModel(
                name='InvitationUse',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('mark', models.CharField(blank=True, max_length=16)),
                    ('invitation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='accounts.invitation')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('invitation', 'user'), name='invitation_once_per_person')],
                },
            ),
            migrations.CreateModel(
                name='Membership',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.CharField(choices=[('annotator', 'Annotator'), ('expert', 'Expert'), ('manager', 'Manager'), ('researcher', 'Researcher')], max_length=20)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ('scope', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='accounts.scope')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('scope', 'user', 'role'), name='membership_once')],
                },
            ),
            migrations.CreateModel(
                name='FormerRole',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.CharField(choices=[('annotator', 'Annotator'), ('expert', 'Expert'), ('manager', 'Manager'), ('researcher', 'Researcher')], max_length=20)),
                    ('at', models.DateTimeField()),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('scope', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.scope')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('scope', 'user', 'role'), name='former_role_once')],
                },
            ),
        ]),
        migrations.RunPython(forwards, backwards),
    ]
