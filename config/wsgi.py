"""The web application for a WSGI server."""

import os

from django.core.wsgi import get_wsgi_application

from measures.charts.svg import prepare_soon
from storage.private import keep_private
from web.telemetry import telemetry_start

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.prod")
keep_private()
telemetry_start()
prepare_soon(seconds=15)  # after the first requests
application = get_wsgi_application()
