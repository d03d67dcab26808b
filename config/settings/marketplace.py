"""Settings of the marketplace, a separate service with its own database, users, cookies and hosts."""

from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from config.settings.base import *
from config.settings.base import (
    BASE_DIR,
    DATA_DIR,
    LOGGING,
    METRICS_DIR,
    MIDDLEWARE,
    TEMPLATES,
    database,
    email_verification,
    env,
)
from database.cache import caches_of
from marketplace.protocol.questions import is_loopback
from storage.secrets import kept_secret

# --- Addresses: the worker site (and the API), and another origin for the content of requesters ---
# Without any, they follow the port that was served last, which marketplace_serve writes down.
MARKETPLACE_PORT_FILE = DATA_DIR / "marketplace_port"
_port = MARKETPLACE_PORT_FILE.read_text().strip() if MARKETPLACE_PORT_FILE.exists() else "8100"
MARKETPLACE_URL = env.str("MARKETPLACE_URL", default=f"http://worker.localhost:{_port}").rstrip("/")
MARKETPLACE_CONTENT_URL = env.str("MARKETPLACE_CONTENT_URL", default=f"http://content.localhost:{_port}").rstrip("/")
# Where boto3 sends its requests.
MARKETPLACE_API_URL = env.str("MARKETPLACE_API_URL", default=f"http://127.0.0.1:{_port}").rstrip("/")
_hosts = [urlsplit(url).hostname or "" for url in (MARKETPLACE_URL, MARKETPLACE_CONTENT_URL)]
MARKETPLACE_IS_LOCAL = all(is_loopback(host) for host in _hosts)
if _hosts[0] == _hosts[1]:
    raise ImproperlyConfigured("MARKETPLACE_CONTENT_URL must be on another host than MARKETPLACE_URL")
if not MARKETPLACE_IS_LOCAL and not (
    MARKETPLACE_URL.startswith("https:") and MARKETPLACE_CONTENT_URL.startswith("https:")
):
    raise ImproperlyConfigured("MARKETPLACE_URL and MARKETPLACE_CONTENT_URL must be https beyond this machine")
ALLOWED_HOSTS = [*_hosts, *env.list("MARKETPLACE_HOSTS", default=[])]
if MARKETPLACE_IS_LOCAL:
    ALLOWED_HOSTS += ["localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = [MARKETPLACE_URL]

# --- A project of its own ---------------------------------------------------------------------------
SECRET_KEY = env.str("MARKETPLACE_SECRET_KEY", default="")
if not SECRET_KEY and MARKETPLACE_IS_LOCAL:
    SECRET_KEY = kept_secret(DATA_DIR / "marketplace_secret_key")
if len(SECRET_KEY) < 50 or len(set(SECRET_KEY)) < 10:
    raise ImproperlyConfigured("MARKETPLACE_SECRET_KEY must be at least 50 random characters")
DEBUG = False
INSTALLED_APPS = [
    "marketplace",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "csp",
]
MIDDLEWARE = [
    MIDDLEWARE[0],  # the request's id, for the log lines of all others
    "marketplace.middleware.HostMiddleware",
    *(one for one in MIDDLEWARE[1:] if "accounts." not in one or "allauth" in one),
]
ROOT_URLCONF = "marketplace.urls"
_options: dict[str, Any] = TEMPLATES[0]["OPTIONS"]  # type: ignore[assignment]
_context = [*_options["context_processors"], "marketplace.context.site"]
_context.remove("accounts.context.person")  # its people have no accounts of the platform
CSRF_FAILURE_VIEW = "django.views.csrf.csrf_failure"
TEMPLATES = [
    {
        **TEMPLATES[0],
        "OPTIONS": {**_options, "context_processors": _context},
        "DIRS": [BASE_DIR / "templates" / "marketplace", BASE_DIR / "templates"],
    }
]
_database_url = env.str("MARKETPLACE_DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'marketplace.sqlite3'}")
if _database_url == env.str("DATABASE_URL", default=""):
    raise ImproperlyConfigured("MARKETPLACE_DATABASE_URL and DATABASE_URL name one database: each service has its own")
DATABASES = {"default": database(_database_url)}
CACHES = caches_of(env.cache_url("MARKETPLACE_CACHE_URL", default="dbcache://marketplace_cache"), "marketplace_cache")
STATIC_ROOT = DATA_DIR / "marketplace_static"
METRICS_DIR = METRICS_DIR.parent / "marketplace"
BACKUP_FOLDERS = ()
BACKUP_NAME = "marketplace"
BACKUP_KEY_FILE = "marketplace_secret_key"

AUTH_USER_MODEL = "marketplace.Worker"
ACCOUNT_ADAPTER = "marketplace.adapter.WorkerAdapter"
ACCOUNT_FORMS = {"signup": "web.signups.OwnersSignupForm", "login": "web.signups.PlainLoginForm"}
ACCOUNT_EMAIL_VERIFICATION = "none" if MARKETPLACE_IS_LOCAL else email_verification("mandatory")
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = ACCOUNT_EMAIL_VERIFICATION == "mandatory"
LOGIN_REDIRECT_URL = "home"
SESSION_COOKIE_NAME = "marketplace_session"
CSRF_COOKIE_NAME = "marketplace_csrf"
LANGUAGE_COOKIE_NAME = "marketplace_language"
if MARKETPLACE_URL.startswith("https:"):
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=31_536_000)
    SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", default=True)
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXY_COUNT", default=0)
if ALLAUTH_TRUSTED_PROXY_COUNT:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
elif not MARKETPLACE_IS_LOCAL:
    # All workers would share the proxy's address, and one of them could lock the others out.
    raise ImproperlyConfigured("TRUSTED_PROXY_COUNT must say how many proxies stand in front: TLS ends at one")
if MARKETPLACE_IS_LOCAL:
    EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
else:
    vars().update(env.email_url("EMAIL_URL"))
    DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL")
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 2**20
# Refused requests are daily bread here.
LOGGING = {**LOGGING, "loggers": {**LOGGING["loggers"], "django.request": {"level": "ERROR"}}}
SILENCED_SYSTEM_CHECKS = ["security.W008", "security.W004", "security.W005", "security.W021"]  # TLS ends at the proxy

# --- What the marketplace does -----------------------------------------------------------------------
MARKETPLACE_OPEN_SIGNUP = env.bool("MARKETPLACE_OPEN_SIGNUP", default=False)
MARKETPLACE_FEES = env.str("MARKETPLACE_FEES", default="published")  # or "none", for a lab's own crowd
MARKETPLACE_DEVELOPMENT = env.bool("MARKETPLACE_DEVELOPMENT", default=False)
if MARKETPLACE_DEVELOPMENT and not MARKETPLACE_IS_LOCAL:
    raise ImproperlyConfigured("MARKETPLACE_DEVELOPMENT moves clocks and breaks answers: only on this machine")
MARKETPLACE_API_RATE = env.float("MARKETPLACE_API_RATE", default=500.0)  # requests a second, each requester and process
MARKETPLACE_WORKER_RATE = env.float("MARKETPLACE_WORKER_RATE", default=20.0)  # pages a second, each worker and process
MARKETPLACE_SWEEP_SECONDS = env.float("MARKETPLACE_SWEEP_SECONDS", default=2.0)
# For notifications to SQS; without a key there are none.
MARKETPLACE_EMAIL_NOTIFICATIONS = env.bool("MARKETPLACE_EMAIL_NOTIFICATIONS", default=False)
MARKETPLACE_SQS_REGION = env.str("MARKETPLACE_SQS_REGION", default="us-east-1")
MARKETPLACE_SQS_KEY = env.str("MARKETPLACE_SQS_KEY", default="")
MARKETPLACE_SQS_SECRET = env.str("MARKETPLACE_SQS_SECRET", default="")
MARKETPLACE_QUIRKS = {
    # As the closed service did it; the friendly value is the other one.
    "token_on_every_page": env.bool("MARKETPLACE_QUIRK_TOKEN_ON_EVERY_PAGE", default=True),
    "default_max_results": env.int("MARKETPLACE_QUIRK_DEFAULT_MAX_RESULTS", default=10),
    "milliseconds_in_messages": env.bool("MARKETPLACE_QUIRK_MILLISECONDS", default=True),
    # Traps of the closed service, off by default; turn them on to harden a client.
    "reuse_assignment_ids": env.bool("MARKETPLACE_QUIRK_REUSE_ASSIGNMENT_IDS", default=False),
    "unmodifiable_seconds": env.int("MARKETPLACE_QUIRK_UNMODIFIABLE_SECONDS", default=0),
    "index_lag_seconds": env.int("MARKETPLACE_QUIRK_INDEX_LAG_SECONDS", default=0),
    "undecidable_seconds": env.int("MARKETPLACE_QUIRK_UNDECIDABLE_SECONDS", default=0),
    "doubled_worker_id": env.bool("MARKETPLACE_QUIRK_DOUBLED_WORKER_ID", default=False),
    "missing_submit_to": env.bool("MARKETPLACE_QUIRK_MISSING_SUBMIT_TO", default=False),
    "silent_after_expiry": env.bool("MARKETPLACE_QUIRK_SILENT_AFTER_EXPIRY", default=False),
}
