"""The processes of a replay."""

import subprocess
import sys

from console.serving import ROOT
from replays.ensemble import Ensemble, Ports


def test_they_send_no_emails_not_even_to_the_terminal():
    show = "from django.conf import settings; print(settings.EMAIL_BACKEND)"
    environment = Ensemble("trial", Ports(), {}).environment | {"DJANGO_SETTINGS_MODULE": "config.settings.dev"}
    shown = subprocess.run([sys.executable, "-c", show], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert shown.stdout == "django.core.mail.backends.dummy.EmailBackend\n"
