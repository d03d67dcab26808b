"""Settings for the tests: fast password hashing, plain static files, mail kept in memory."""

import tempfile
from pathlib import Path

from accounts.login_file import allauth_providers, apps_of, read_login_file
from config.settings.base import *
from config.settings.base import BASE_DIR, INSTALLED_APPS, STORAGES, database, env

SECRET_KEY = "only-for-tests-" + "x" * 40
DEBUG = False
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "testserver"]
DATA_DIR = Path(tempfile.mkdtemp(prefix="quorate-tests-"))
_database = database(env.str("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'app.sqlite3'}"))
# A file, not memory: threads, processes and the live server each open it.
_database["TEST"] = {"NAME": None if "postgresql" in _database["ENGINE"] else str(DATA_DIR / "test.sqlite3")}
if "init_command" in _database["OPTIONS"]:  # a test whose machine fails is run again
    _database["OPTIONS"]["init_command"] += " PRAGMA synchronous=OFF;"
DATABASES = {"default": _database}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
for _name, _folder in (
    ("default", "uploads"),
    ("documents", "documents"),
    ("releases", "releases"),
    ("releases_now", "releases"),
):
    STORAGES[_name] = {**STORAGES[_name], "OPTIONS": {**STORAGES[_name]["OPTIONS"], "location": DATA_DIR / _folder}}
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
CELERY_BROKER_URL = ""
LOGIN_PROVIDERS, PASSWORD_LOGIN = read_login_file(str(BASE_DIR / "tests" / "accounts" / "login.toml"))
INSTALLED_APPS += apps_of(LOGIN_PROVIDERS)
SOCIALACCOUNT_PROVIDERS = allauth_providers(LOGIN_PROVIDERS)
STYLEGUIDE = True
WEBHOOKS_LOCAL = True
METRICS_DIR = DATA_DIR / "metrics"

# Campaigns of tests have few judgments a person; the tests of rare people say otherwise.
RELEASE_RARE_BELOW = 0

# Jobs of a test run inside its transaction, whose lock on SQLite the heartbeat would wait for, and the test for the heartbeat.
JOB_BEAT_SECONDS = 3600.0
