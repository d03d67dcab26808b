"""For the tests of the marketplace."""

import tempfile
from pathlib import Path

from config.settings.marketplace import *
from config.settings.marketplace import STORAGES, database, env

SECRET_KEY = "only-for-tests-" + "m" * 40
DATA_DIR = Path(tempfile.mkdtemp(prefix="quorate-marketplace-"))
ALLOWED_HOSTS = ["*"]
_database = database(env.str("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'app.sqlite3'}"))
_database["TEST"] = {"NAME": None if "postgresql" in _database["ENGINE"] else str(DATA_DIR / "test.sqlite3")}
_database["CONN_MAX_AGE"] = 0  # the live server's threads must let go of the database
if "init_command" in _database["OPTIONS"]:  # a test whose machine fails is run again
    _database["OPTIONS"]["init_command"] += " PRAGMA synchronous=OFF;"
DATABASES = {"default": _database}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
METRICS_DIR = DATA_DIR / "metrics"
MARKETPLACE_DEVELOPMENT = True
MARKETPLACE_OPEN_SIGNUP = True
