"""One machine, no services: for trying Quorate, for developing it, and for `make demo` and `make serve`."""

import os
import secrets

from config.settings.base import *
from config.settings.base import DATA_DIR, STORAGES, env


def _kept_secret() -> str:
    """Return this installation's own secret, made on first use and readable by its owner only."""
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    path = DATA_DIR / "secret_key"
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return path.read_text()
    secret = secrets.token_urlsafe(50)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret)
    return secret


SECRET_KEY = env.str("SECRET_KEY", default="") or _kept_secret()
DEBUG = env.bool("QUORATE_DEBUG", default=False)
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *env.list("ALLOWED_HOSTS", default=[])]
EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
if DEBUG:
    WHITENOISE_USE_FINDERS = True
    STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
STYLEGUIDE = env.bool("QUORATE_STYLEGUIDE", default=True)
PREPARE_DATABASE = True  # commands make an empty database ready by themselves
ACCOUNT_EMAIL_VERIFICATION = "none"  # mail goes to the terminal here
