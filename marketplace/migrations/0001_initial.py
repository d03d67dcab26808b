import django.db.models.deletion
import django.db.models.expressions
import marketplace.models.fields
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models

from database.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Worker',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('password', models.CharField(max_length=128, verbose_name='password')),
                    ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                    ('email', models.EmailField(max_length=254, unique=True, verbose_name='email address')),
                    ('worker_id', models.CharField(max_length=64, unique=True)),
                    ('display_name', models.CharField(blank=True, max_length=100)),
                    ('country', models.CharField(blank=True, max_length=2)),
                    ('subdivision', models.CharField(blank=True, max_length=2)),
                    ('is_adult_content_ok', models.BooleanField(default=False)),
                    ('is_active', models.BooleanField(default=True)),
                    ('joined_at', models.DateTimeField()),
                    ('agreed_at', models.DateTimeField(null=True)),
                    ('prior_approved', models.PositiveIntegerField(default=0)),
                    ('prior_rejected', models.PositiveIntegerField(default=0)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Hit',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('hit_id', models.CharField(max_length=64, unique=True)),
                    ('question', models.TextField()),
                    ('question_kind', models.CharField(max_length=20)),
                    ('layout_id', models.CharField(max_length=64, null=True)),
                    ('max_assignments', models.PositiveIntegerField()),
                    ('reward', marketplace.models.fields.MoneyField()),
                    ('fee_each', marketplace.models.fields.MoneyField()),
                    ('annotation', models.CharField(max_length=255, null=True)),
                    ('assignment_review_policy', models.JSONField(null=True)),
                    ('state', models.CharField(choices=[('Assignable', 'Assignable'), ('Unassignable', 'Unassignable'), ('Reviewable', 'Reviewable'), ('Reviewing', 'Reviewing'), ('Disposed', 'Disposed')], default='Assignable', max_length=12)),
                    ('created_at', models.DateTimeField()),
                    ('expires_at', models.DateTimeField()),
                    ('is_expired', models.BooleanField(default=False)),
                    ('reviewable_at', models.DateTimeField(null=True)),
                    ('held', marketplace.models.fields.MoneyField()),
                    ('pending', models.PositiveIntegerField(default=0)),
                    ('undecided', models.PositiveIntegerField(default=0)),
                    ('completed', models.PositiveIntegerField(default=0)),
                    ('due_at', models.DateTimeField(null=True)),
                ],
            ),
            migrations.CreateModel(
                name='HitType',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('hit_type_id', models.CharField(max_length=64, unique=True)),
                    ('group_id', models.CharField(max_length=64, unique=True)),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('title', models.CharField(max_length=128)),
                    ('description', models.TextField()),
                    ('keywords', models.TextField(null=True)),
                    ('reward', marketplace.models.fields.MoneyField()),
                    ('assignment_seconds', models.BigIntegerField()),
                    ('auto_approval_seconds', models.BigIntegerField()),
                    ('requirements', models.JSONField(default=list)),
                    ('created_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='SignupInvitation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('token_sha256', models.CharField(max_length=64, unique=True)),
                    ('uses_left', models.PositiveIntegerField()),
                    ('expires_at', models.DateTimeField()),
                    ('note', models.CharField(blank=True, max_length=200)),
                ],
            ),
            migrations.CreateModel(
                name='UsedSignature',
                fields=[
                    ('signature', models.CharField(max_length=64, primary_key=True, serialize=False)),
                    ('used_at', models.DateTimeField(db_index=True)),
                    ('address', models.CharField(blank=True, max_length=45)),
                ],
            ),
            migrations.CreateModel(
                name='Assignment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('assignment_id', models.CharField(max_length=64)),
                    ('slot', models.PositiveIntegerField()),
                    ('state', models.CharField(choices=[('Accepted', 'Accepted'), ('Submitted', 'Submitted'), ('Approved', 'Approved'), ('Rejected', 'Rejected'), ('Returned', 'Returned'), ('Abandoned', 'Abandoned')], default='Accepted', max_length=10)),
                    ('accepted_at', models.DateTimeField()),
                    ('deadline_at', models.DateTimeField()),
                    ('submitted_at', models.DateTimeField(null=True)),
                    ('auto_approval_at', models.DateTimeField(null=True)),
                    ('approved_at', models.DateTimeField(null=True)),
                    ('rejected_at', models.DateTimeField(null=True)),
                    ('ended_at', models.DateTimeField(null=True)),
                    ('answer', models.TextField(default='')),
                    ('feedback', models.TextField(default='')),
                    ('reward', marketplace.models.fields.MoneyField()),
                    ('fee', marketplace.models.fields.MoneyField()),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to=settings.AUTH_USER_MODEL)),
                    ('hit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='marketplace.hit')),
                ],
            ),
            migrations.CreateModel(
                name='Bonus',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('amount', marketplace.models.fields.MoneyField()),
                    ('fee', marketplace.models.fields.MoneyField()),
                    ('reason', models.TextField()),
                    ('granted_at', models.DateTimeField()),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bonuses', to='marketplace.assignment')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bonuses', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='ClockSetting',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('offset_seconds', models.BigIntegerField(default=0)),
                    ('frozen_at', models.DateTimeField(null=True)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='one_clock')],
                },
            ),
            migrations.CreateModel(
                name='Fault',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('operation', models.CharField(max_length=50)),
                    ('kind', models.CharField(choices=[('throttle', 'Throttle'), ('error-500', 'Error'), ('error-505', 'Unavailable'), ('drop-before', 'Drop Before'), ('drop-after', 'Drop After'), ('slow', 'Slow'), ('truncate', 'Truncate'), ('duplicate', 'Duplicate'), ('lose', 'Lose')], max_length=12)),
                    ('remaining', models.PositiveIntegerField(default=1)),
                    ('seconds', models.FloatField(default=1.0)),
                ],
                options={
                    'indexes': [models.Index(fields=['operation'], name='fault_by_operation')],
                },
            ),
        ]),
        migrations.AddField(
            model_name='hit',
            name='hit_type',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hits', to='marketplace.hittype'),
        ),
        migrations.CreateModel(
            name='NotificationSettings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('destination', models.TextField()),
                ('transport', models.CharField(max_length=5)),
                ('version', models.CharField(max_length=20)),
                ('event_types', models.JSONField()),
                ('is_active', models.BooleanField(default=True)),
                ('hit_type', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='notification', to='marketplace.hittype')),
            ],
        ),
        migrations.CreateModel(
            name='Requester',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('customer_id', models.CharField(max_length=64, unique=True)),
                ('fee_rules', models.CharField(default='published', max_length=20)),
                ('signs_frames', models.BooleanField(default=False)),
                ('key_generation', models.PositiveIntegerField(default=1)),
                ('created_at', models.DateTimeField()),
                ('deposited', marketplace.models.fields.MoneyField(default=Decimal('0'))),
                ('available', marketplace.models.fields.MoneyField(default=Decimal('0'))),
                ('held', marketplace.models.fields.MoneyField(default=Decimal('0'))),
                ('paid', marketplace.models.fields.MoneyField(default=Decimal('0'))),
                ('fees', marketplace.models.fields.MoneyField(default=Decimal('0'))),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('deposited', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('available'), '+', models.F('held')), '+', models.F('paid')), '+', models.F('fees')))), name='requester_money_adds_up'), models.CheckConstraint(condition=models.Q(('available__gte', 0), ('fees__gte', 0), ('held__gte', 0), ('paid__gte', 0)), name='requester_never_overdrawn')],
            },
        ),
        migrations.CreateModel(
            name='QualificationType',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('qualification_type_id', models.CharField(max_length=64, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField()),
                ('keywords', models.TextField(null=True)),
                ('is_active', models.BooleanField(default=True)),
                ('is_requestable', models.BooleanField(default=True)),
                ('test', models.TextField(null=True)),
                ('answer_key', models.TextField(null=True)),
                ('test_seconds', models.BigIntegerField(null=True)),
                ('retry_delay_seconds', models.BigIntegerField(null=True)),
                ('auto_granted', models.BooleanField(default=False)),
                ('auto_granted_value', models.IntegerField(null=True)),
                ('created_at', models.DateTimeField()),
                ('deleted_at', models.DateTimeField(null=True)),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualification_types', to='marketplace.requester')),
            ],
        ),
        migrations.CreateModel(
            name='LedgerEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('deposit', 'Deposit'), ('hold', 'Hold'), ('release', 'Release'), ('reward', 'Reward'), ('bonus', 'Bonus')], max_length=8)),
                ('deposited', marketplace.models.fields.MoneyField(default=0)),
                ('available', marketplace.models.fields.MoneyField(default=0)),
                ('held', marketplace.models.fields.MoneyField(default=0)),
                ('paid', marketplace.models.fields.MoneyField(default=0)),
                ('fees', marketplace.models.fields.MoneyField(default=0)),
                ('at', models.DateTimeField()),
                ('assignment', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='marketplace.assignment')),
                ('bonus', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='marketplace.bonus')),
                ('hit', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='marketplace.hit')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ledger', to='marketplace.requester')),
            ],
        ),
        migrations.AddField(
            model_name='hittype',
            name='requester',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='hit_types', to='marketplace.requester'),
        ),
        migrations.CreateModel(
            name='HitLayout',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('layout_id', models.CharField(max_length=64, unique=True)),
                ('name', models.CharField(max_length=100)),
                ('html', models.TextField()),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='layouts', to='marketplace.requester')),
            ],
        ),
        migrations.AddField(
            model_name='hit',
            name='requester',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='hits', to='marketplace.requester'),
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('destination', models.TextField()),
                ('transport', models.CharField(max_length=5)),
                ('message_id', models.CharField(max_length=36, unique=True)),
                ('body', models.TextField()),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('due_at', models.DateTimeField(null=True)),
                ('delivered_at', models.DateTimeField(null=True)),
                ('error', models.TextField(default='')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='marketplace.requester')),
            ],
        ),
        migrations.AddField(
            model_name='bonus',
            name='requester',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bonuses', to='marketplace.requester'),
        ),
        migrations.AddField(
            model_name='assignment',
            name='requester',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='marketplace.requester'),
        ),
        migrations.CreateModel(
            name='AccessKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key_id', models.CharField(max_length=20, unique=True)),
                ('created_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(null=True)),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='access_keys', to='marketplace.requester')),
            ],
        ),
        migrations.CreateModel(
            name='ReviewResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('action_id', models.CharField(max_length=64)),
                ('is_action', models.BooleanField()),
                ('name', models.CharField(max_length=100)),
                ('value', models.CharField(max_length=200)),
                ('question_id', models.CharField(max_length=255, null=True)),
                ('status', models.CharField(default='Succeeded', max_length=10)),
                ('at', models.DateTimeField()),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='review_results', to='marketplace.assignment')),
                ('hit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='review_results', to='marketplace.hit')),
            ],
        ),
        migrations.CreateModel(
            name='UniqueRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('operation', models.CharField(max_length=40)),
                ('token', models.CharField(max_length=64)),
                ('result', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField()),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='marketplace.requester')),
            ],
        ),
        migrations.CreateModel(
            name='WorkerBlock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('created_at', models.DateTimeField()),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='marketplace.requester')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='WorkerMessage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('subject', models.CharField(max_length=200)),
                ('text', models.TextField()),
                ('sent_at', models.DateTimeField()),
                ('read_at', models.DateTimeField(null=True)),
                ('requester', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='marketplace.requester')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages_received', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='QualificationRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('request_id', models.CharField(max_length=64, unique=True)),
                ('state', models.CharField(choices=[('Begun', 'Begun'), ('Pending', 'Pending'), ('Granted', 'Granted'), ('Rejected', 'Rejected')], max_length=8)),
                ('test', models.TextField(null=True)),
                ('answer_key', models.TextField(null=True)),
                ('test_seconds', models.BigIntegerField(null=True)),
                ('answer', models.TextField(null=True)),
                ('reason', models.TextField(default='')),
                ('begun_at', models.DateTimeField()),
                ('submitted_at', models.DateTimeField(null=True)),
                ('decided_at', models.DateTimeField(null=True)),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualification_requests', to=settings.AUTH_USER_MODEL)),
                ('qualification_type', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='marketplace.qualificationtype')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['Begun', 'Pending'])), fields=('qualification_type', 'worker'), name='one_open_request_a_worker')],
            },
        ),
        migrations.CreateModel(
            name='Qualification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', models.IntegerField(null=True)),
                ('is_granted', models.BooleanField(default=True)),
                ('granted_at', models.DateTimeField()),
                ('reason', models.TextField(default='')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualifications', to=settings.AUTH_USER_MODEL)),
                ('qualification_type', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualifications', to='marketplace.qualificationtype')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('qualification_type', 'worker'), name='one_qualification_a_worker')],
            },
        ),
        migrations.AddConstraint(
            model_name='qualificationtype',
            constraint=models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('requester', 'name'), name='one_qualification_type_a_name'),
        ),
        migrations.AddConstraint(
            model_name='qualificationtype',
            constraint=models.CheckConstraint(condition=models.Q(('auto_granted', False), ('test__isnull', True), _connector='OR'), name='no_test_where_granted_at_once'),
        ),
        migrations.AddConstraint(
            model_name='ledgerentry',
            constraint=models.CheckConstraint(condition=models.Q(('deposited', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('available'), '+', models.F('held')), '+', models.F('paid')), '+', models.F('fees')))), name='entry_adds_up'),
        ),
        migrations.AddConstraint(
            model_name='ledgerentry',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'reward')), fields=('assignment',), name='one_reward_an_assignment'),
        ),
        migrations.AddConstraint(
            model_name='ledgerentry',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'bonus')), fields=('bonus',), name='one_entry_a_bonus'),
        ),
        migrations.AddConstraint(
            model_name='hittype',
            constraint=models.UniqueConstraint(fields=('requester', 'fingerprint'), name='equal_values_are_one_type'),
        ),
        migrations.AddConstraint(
            model_name='hittype',
            constraint=models.CheckConstraint(condition=models.Q(('reward__gte', 0)), name='reward_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='hitlayout',
            constraint=models.UniqueConstraint(fields=('requester', 'name'), name='one_layout_a_name'),
        ),
        migrations.AddIndex(
            model_name='hit',
            index=models.Index(fields=['requester', 'due_at'], name='hit_due'),
        ),
        migrations.AddIndex(
            model_name='hit',
            index=models.Index(fields=['due_at'], name='hit_due_all'),
        ),
        migrations.AddIndex(
            model_name='hit',
            index=models.Index(fields=['requester', 'state', 'id'], name='hit_by_state'),
        ),
        migrations.AddIndex(
            model_name='hit',
            index=models.Index(fields=['hit_type', 'state', 'expires_at', 'id'], name='hit_open'),
        ),
        migrations.AddConstraint(
            model_name='hit',
            constraint=models.CheckConstraint(condition=models.Q(('max_assignments__gte', 1)), name='hit_wants_somebody'),
        ),
        migrations.AddConstraint(
            model_name='hit',
            constraint=models.CheckConstraint(condition=models.Q(('max_assignments__gte', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('pending'), '+', models.F('undecided')), '+', models.F('completed')))), name='hit_never_overfull'),
        ),
        migrations.AddConstraint(
            model_name='hit',
            constraint=models.CheckConstraint(condition=models.Q(('held__gte', 0)), name='hit_held_not_negative'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(fields=['due_at'], name='delivery_due'),
        ),
        migrations.AddConstraint(
            model_name='bonus',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='bonus_positive'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['hit', 'state', 'id'], name='assignment_by_hit'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['hit', 'state', 'deadline_at'], name='assignment_by_deadline'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['hit', 'state', 'auto_approval_at'], name='assignment_by_approval'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['worker', 'state', 'id'], name='assignment_by_worker'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['requester', 'state', 'id'], name='assignment_by_requester'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['Accepted', 'Submitted', 'Approved', 'Rejected'])), fields=('hit', 'slot'), name='one_live_assignment_a_slot'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['Accepted', 'Submitted', 'Approved', 'Rejected'])), fields=('hit', 'worker'), name='one_live_assignment_a_worker'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['Accepted', 'Submitted', 'Approved', 'Rejected'])), fields=('assignment_id',), name='one_live_assignment_an_id'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(('deadline_at__gt', models.F('accepted_at'))), name='deadline_after_accept'),
        ),
        migrations.AddConstraint(
            model_name='uniquerequest',
            constraint=models.UniqueConstraint(fields=('requester', 'operation', 'token'), name='a_token_works_once'),
        ),
        migrations.AddConstraint(
            model_name='workerblock',
            constraint=models.UniqueConstraint(fields=('requester', 'worker'), name='one_block_a_worker'),
        ),
        migrations.AddIndex(
            model_name='workermessage',
            index=models.Index(fields=['worker', 'id'], name='message_by_worker'),
        ),
    ]
