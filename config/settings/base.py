"""The settings that every installation shares, without secrets and without machine-specific values."""

from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from accounts.login_file import ROLES, LoginFileError, allauth_providers, apps_of, origins_of, read_login_file
from database.cache import caches_of
from database.sqlite import use_current_sqlite

use_current_sqlite()

BASE_DIR = Path(__file__).resolve().parents[2]
env = environ.Env()

# Where everything that is not code lives: database, documents, uploads, releases.
DATA_DIR = Path(env.str("QUORATE_DATA", default=str(BASE_DIR / "var")))

INSTALLED_APPS = [
    "accounts",
    "jobs",
    "documents",
    "annotation",
    "workforces",
    "sources",
    "quality",
    "exports",
    "evaluation",
    "console",
    "api",
    "replays",
    "baselines",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "csp",
]

MIDDLEWARE = [
    "web.request_log.RequestLogMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "web.compression.CompressedPagesMiddleware",
    "web.fields.ReadableFieldsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "web.headers.PermissionsPolicyMiddleware",
    "web.headers.PrivatePagesMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.two_factor.TwoFactorMiddleware",
    "accounts.middleware.LoginReturnMiddleware",
    "accounts.middleware.ProviderAwayMiddleware",
    "console.moved.MovedAddresses",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,  # without loaders of our own, compiled templates are kept
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "accounts.context.person",
            ],
        },
    }
]

# --- Database -----------------------------------------------------------------------------------
# Every write transaction takes SQLite's lock at once (IMMEDIATE): a lock taken half-way cannot wait.
# synchronous=FULL: an answer that was acknowledged survives a power cut.
SQLITE_OPTIONS = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    # With the default, nothing of an answer was kept after an import: every statement was planned again each time.
    "cached_statements": 1_000,
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY; "
        "PRAGMA cache_size=-20000; PRAGMA journal_size_limit=67108864;"
    ),
}


# PostgreSQL: nothing waits for a lock or runs a statement for longer; what is given up is tried again.
LOCK_SECONDS = env.int("QUORATE_LOCK_SECONDS", default=10)
STATEMENT_SECONDS = env.int("QUORATE_STATEMENT_SECONDS", default=300)
CONNECT_SECONDS = env.int("QUORATE_CONNECT_SECONDS", default=5)


def database(url: str) -> dict[str, Any]:
    """Return Django's settings for a database URL (``sqlite:///path`` or ``postgres://…``)."""
    config: dict[str, Any] = environ.Env.db_url_config(url)
    if config["ENGINE"].endswith("sqlite3"):
        config["ENGINE"] = "database.backends.sqlite3"
        config["OPTIONS"] = {**SQLITE_OPTIONS, **config.get("OPTIONS", {})}
    else:
        config["ENGINE"] = "database.backends.postgresql"
        # Without jit: compiling a statement of ten milliseconds took eight hundred where its cost was misjudged.
        session = f"-c jit=off -c lock_timeout={LOCK_SECONDS}s -c statement_timeout={STATEMENT_SECONDS}s"
        config["OPTIONS"] = {
            "options": session,
            "connect_timeout": CONNECT_SECONDS,
            "prepare_threshold": 5,  # lets statements be prepared at all (`database.backends.postgresql`)
            **config.get("OPTIONS", {}),
        }
        config.setdefault("CONN_HEALTH_CHECKS", True)
    config.setdefault("CONN_MAX_AGE", 60)
    return config


DATABASES = {"default": database(env.str("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'quorate.sqlite3'}"))}

# --- Accounts -----------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["config.sessions.UserBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_ADAPTER = "accounts.adapter.InvitationAdapter"
SOCIALACCOUNT_ADAPTER = "accounts.login_providers.ProvidedAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = False
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True  # else a provider couldn't end what such a login began
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_REQUESTS_TIMEOUT = 5  # seconds: a provider that stays silent holds nothing up for longer
try:
    LOGIN_PROVIDERS, PASSWORD_LOGIN = read_login_file(env.str("QUORATE_LOGIN_FILE", default=""))
except LoginFileError as error:
    raise ImproperlyConfigured(str(error)) from error
INSTALLED_APPS += apps_of(LOGIN_PROVIDERS)
SOCIALACCOUNT_PROVIDERS = allauth_providers(LOGIN_PROVIDERS)
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None


def email_verification(default: str) -> str:
    """Return whether all addresses are confirmed, or none; optional confirmation would prove nothing."""
    value: str = env.str("QUORATE_EMAIL_VERIFICATION", default=default)
    if value not in ("mandatory", "none"):
        raise ImproperlyConfigured("QUORATE_EMAIL_VERIFICATION must be mandatory or none")
    return value


ACCOUNT_EMAIL_VERIFICATION = email_verification("none")
# By a code that is entered in the browser of the sign-up. A link would confirm an account that someone else had made with
# the address before.
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = ACCOUNT_EMAIL_VERIFICATION == "mandatory"
ACCOUNT_EMAIL_VERIFICATION_SUPPORTS_RESEND = True
ACCOUNT_FORMS = {"signup": "web.signups.OwnersSignupForm", "login": "accounts.adapter.PasswordLoginForm"}
ACCOUNT_PREVENT_ENUMERATION = True
EMAIL_TIMEOUT = 20  # seconds: a mail server that stays silent holds nothing up for longer
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""  # else it is the name that the request came with
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_GET = False
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
TWO_FACTOR_ROLES = tuple(env.list("QUORATE_TWO_FACTOR_ROLES", default=[]))
if unknown := set(TWO_FACTOR_ROLES) - set(ROLES):
    raise ImproperlyConfigured(f"QUORATE_TWO_FACTOR_ROLES: unknown: {', '.join(sorted(unknown))}")
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
SESSION_ENGINE = "web.sessions"
SESSION_COOKIE_NAME = "quorate_session"
CSRF_COOKIE_NAME = "quorate_csrf"
CSRF_FAILURE_VIEW = "accounts.given_back.csrf_failed"
LANGUAGE_COOKIE_NAME = "quorate_language"
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"

# Rate limits count across processes and restarts, so the cache is shared: the database, or Redis.
CACHES = caches_of(env.cache_url("CACHE_URL", default="dbcache://quorate_cache"), "quorate_cache")
# Failures count by account; by address far more are let through (see `web.logins`). Who gets in counts for nothing.
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": "5/300s/key", "confirm_email": "60/600s/ip"}
LOGIN_FAILURES_PER_ACCOUNT = env.int("QUORATE_LOGIN_FAILURES_PER_ACCOUNT", default=50)  # in a quarter of an hour
LOGIN_FAILURES_PER_ADDRESS = env.int("QUORATE_LOGIN_FAILURES_PER_ADDRESS", default=200)  # in a quarter of an hour

# --- Language and time --------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# --- Files --------------------------------------------------------------------------------------
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
_FILES = "storage.files.WholeFileStorage"
# A person with fewer judgments than this in a release gets another pseudonym for each of them.
RELEASE_RARE_BELOW = env.int("QUORATE_RARE_BELOW", default=5)
# Releases can lie in a bucket (s3://bucket/prefix), where several machines and many gigabytes ask for it.
RELEASES_PLACE = env.str("QUORATE_RELEASES", default="")


def _releases(**limits: int) -> dict[str, Any]:
    """Return the storage of releases; ``limits`` are those of a bucket."""
    if RELEASES_PLACE:
        return {"BACKEND": "storage.buckets.BucketStorage", "OPTIONS": {"place": RELEASES_PLACE, **limits}}
    return {"BACKEND": _FILES, "OPTIONS": {"location": DATA_DIR / "releases", "allow_overwrite": True}}


STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": _FILES, "OPTIONS": {"location": DATA_DIR / "uploads"}},
    "documents": {"BACKEND": _FILES, "OPTIONS": {"location": DATA_DIR / "documents"}},
    "releases": _releases(),
    "releases_now": _releases(attempts=1, seconds=5),  # for pages: a person is waiting
    "staticfiles": {"BACKEND": "web.static.HashedStaticFilesStorage"},
}
FILE_UPLOAD_PERMISSIONS = 0o600
DATA_UPLOAD_MAX_MEMORY_SIZE = 20 * 2**20
# What a backup takes along from the data folder, what it is called, and where a key that was made here is kept.
BACKUP_FOLDERS: tuple[str, ...] = ("documents", "uploads", "releases")
BACKUP_NAME = "quorate"
BACKUPS_DIR = env.str("QUORATE_BACKUPS", default="")  # where backups are made, to tell how old the last one is
BACKUP_KEY_FILE = "secret_key"

# --- Security -----------------------------------------------------------------------------------
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF, *origins_of(LOGIN_PROVIDERS)],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

# --- The REST interface --------------------------------------------------------------------------
WEBHOOKS_LOCAL = False  # whether webhooks may be sent to this machine and its network
API_REQUESTS_PER_MINUTE = env.int("QUORATE_API_REQUESTS_PER_MINUTE", default=600)  # of a token

# --- Jobs ---------------------------------------------------------------------------------------
# Without a broker the worker finds due job rows itself; with one (redis://, amqp://) Celery carries
# their ids and the tick finds what a lost message left behind.
CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="")
JOB_LEASE_SECONDS = env.int("QUORATE_JOB_LEASE_SECONDS", default=60)
JOB_BEAT_SECONDS = JOB_LEASE_SECONDS / 3  # between two renewals of a lease

# --- What one page of an import may cost ------------------------------------------------------------
DOCUMENT_LIMITS = {
    "max_bytes": env.int("QUORATE_DOCUMENT_MAX_BYTES", default=16 * 2**20),
    "seconds": env.float("QUORATE_DOCUMENT_SECONDS", default=30.0),
    "memory_bytes": env.int("QUORATE_DOCUMENT_MEMORY", default=2 * 2**30),
}

# --- The marketplace that postings go to ------------------------------------------------------------
PLATFORM_URL = env.str("PLATFORM_URL", default="http://localhost:8000").rstrip("/")  # where frames and mails find us
CROWD_NEEDS_NAME = False  # whether `crowd` works only in a campaign that is named twice
MTURK_ENDPOINT_URL = env.str("MTURK_ENDPOINT_URL", default="")
MTURK_ACCESS_KEY_ID = env.str("MTURK_ACCESS_KEY_ID", default="")
MTURK_SECRET_ACCESS_KEY = env.str("MTURK_SECRET_ACCESS_KEY", default="")
MTURK_FRAME_SECRET = env.str("MTURK_FRAME_SECRET", default="")
# Where finished work may be submitted, and who may show our pages in a frame. The first stands in for an
# address that names none.
MTURK_SUBMIT_URLS = env.list("MTURK_SUBMIT_URLS", default=[])
MTURK_REQUESTS_PER_SECOND = env.float("MTURK_REQUESTS_PER_SECOND", default=3.0)
MTURK_ROUND_SECONDS = env.float("MTURK_ROUND_SECONDS", default=20.0)
MTURK_ROUND_BUDGET_SECONDS = env.float("MTURK_ROUND_BUDGET_SECONDS", default=20.0)
MTURK_CALLS_IN_FLIGHT = env.int("MTURK_CALLS_IN_FLIGHT", default=4)
MTURK_PULL_SECONDS = env.float("MTURK_PULL_SECONDS", default=30.0)
MTURK_RETRY_SECONDS = env.float("MTURK_RETRY_SECONDS", default=30.0)
# Clocks differ, and the last click takes its time.
MTURK_GRACE_SECONDS = env.float("MTURK_GRACE_SECONDS", default=900.0)

# --- Prolific ---------------------------------------------------------------------------------------
PROLIFIC_API_URL = env.str("PROLIFIC_API_URL", default="https://api.prolific.com").rstrip("/")
PROLIFIC_APP_URL = env.str("PROLIFIC_APP_URL", default="https://app.prolific.com").rstrip("/")
PROLIFIC_TOKEN = env.str("PROLIFIC_TOKEN", default="").strip()
PROLIFIC_WORKSPACE = env.str("PROLIFIC_WORKSPACE", default="")
PROLIFIC_PROJECT = env.str("PROLIFIC_PROJECT", default="")
PROLIFIC_HOOK_SECRET = env.str("PROLIFIC_HOOK_SECRET", default="")
PROLIFIC_ROUND_SECONDS = env.float("PROLIFIC_ROUND_SECONDS", default=30.0)

# --- The accounts that releases are published under -------------------------------------------------
HUGGING_FACE_URL = env.str("HUGGING_FACE_URL", default="https://huggingface.co").rstrip("/")
HUGGING_FACE_TOKEN = env.str("HUGGING_FACE_TOKEN", default="").strip()
ZENODO_URL = env.str("ZENODO_URL", default="https://zenodo.org").rstrip("/")
ZENODO_TOKEN = env.str("ZENODO_TOKEN", default="").strip()

# Below this the installation says that it is not ready: an answer that cannot be written is lost work.
DISK_FLOOR_BYTES = env.int("QUORATE_DISK_FLOOR_BYTES", default=512 * 2**20)

# People are told how long: raise it only together with new consent texts.
CLICK_LOG_DAYS = env.int("QUORATE_CLICK_LOG_DAYS", default=90)

# --- Metrics and logs -------------------------------------------------------------------------------
METRICS_TOKEN = env.str("QUORATE_METRICS_TOKEN", default="")
# In memory: writing to a mapped file ends the process if the disk is full.
_folder = env.str("QUORATE_METRICS_DIR", default="")
if METRICS_TOKEN and not _folder:
    raise ImproperlyConfigured("QUORATE_METRICS_DIR must name a folder in memory, such as /run/quorate/metrics")
METRICS_DIR = Path(_folder or DATA_DIR / "metrics") / "platform"
LOG_FORMAT = env.str("QUORATE_LOG_FORMAT", default="line")
if LOG_FORMAT not in ("line", "json"):
    raise ImproperlyConfigured("QUORATE_LOG_FORMAT must be line or json")
LOG_REQUESTS = env.bool("QUORATE_LOG_REQUESTS", default=LOG_FORMAT == "json")

STYLEGUIDE = False
PREPARE_DATABASE = False
SILENCED_SYSTEM_CHECKS: list[str] = []
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "web.logs.RedactingFormatter", "format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "web.logs.JsonFormatter"},
    },
    "filters": {"short": {"()": "web.logs.ShortWhenAway"}, "request_id": {"()": "web.request_log.RequestIdFilter"}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["short", "request_id"],
        }
    },
    # Django's own would also mail error reports, with addresses in them.
    "loggers": {"django": {"handlers": [], "level": "INFO"}, "django.server": {"handlers": [], "propagate": True}},
    "root": {"handlers": ["console"], "level": env.str("QUORATE_LOG_LEVEL", default="INFO")},
}
