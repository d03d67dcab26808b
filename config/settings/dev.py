"""Settings for one machine without services: for trying or developing Quorate, and for `make demo` and `make serve`."""

from config.settings.base import *
from config.settings.base import DATA_DIR, STORAGES, env
from storage.secrets import kept_secret

SECRET_KEY = env.str("SECRET_KEY", default="") or kept_secret(DATA_DIR / "secret_key")
DEBUG = env.bool("QUORATE_DEBUG", default=False)
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *env.list("ALLOWED_HOSTS", default=[])]
vars().update(env.email_url("EMAIL_URL", default="consolemail://"))  # to the terminal
if DEBUG:
    WHITENOISE_USE_FINDERS = True
    STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
STYLEGUIDE = env.bool("QUORATE_STYLEGUIDE", default=True)
WEBHOOKS_LOCAL = True
PREPARE_DATABASE = True  # commands make an empty database ready by themselves
ACCOUNT_EMAIL_VERIFICATION = "none"  # nobody reads a mailbox here
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = False
