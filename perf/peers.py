"""Other platforms at the same work: ``python -m perf.peers turkle|label-studio|potato PYTHON --people 8 --seconds 12``.

``PYTHON`` is the interpreter of an environment that has the platform (and gunicorn, for Turkle) from the package index.
Each is started as its documentation says, on SQLite or its own files, with 2,000 pairs of a question and an answer that
three people each label from 1 to 4. People don't think between two labels. For one label they send what that platform's
own page sends: the label, and whatever brings the next item. Images, styles and scripts are not loaded.
"""

import argparse
import http.client
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from console.serving import any_port
from perf.calibration import calibration
from perf.figures import figures
from replays.ensemble import cpu_seconds_of

PAIRS, VOTES, MOST_TRIES = 2_000, 3, 50
PASSWORD = "only-on-this-machine-1"
TEXTS = [
    (f"How do I mend a tear of {n} cm in a sail?", f"Sew it with a zigzag stitch, number {n}.") for n in range(PAIRS)
]


class Session:
    """One person's browser: cookies, a connection that stays open, redirects followed."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.cookies: dict[str, str] = {}
        self.requests = 0
        self.url = ""

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> str:
        """Send a request (a string as a form, anything else as JSON) and return the text of the page that follows."""
        for _ in range(6):
            sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), **headers}
            data = None
            if body is not None:
                is_form = isinstance(body, str)
                sent["Content-Type"] = "application/x-www-form-urlencoded" if is_form else "application/json"
                data = body.encode() if is_form else json.dumps(body).encode()
            self.connection.request(method, path, data, sent)
            response = self.connection.getresponse()
            text = response.read().decode("utf-8", "replace")
            self.requests += 1
            self.url = path
            for name, value in response.getheaders():
                if name.lower() == "set-cookie":
                    key, _, rest = value.partition("=")
                    self.cookies[key] = rest.partition(";")[0]
            if response.status not in (301, 302, 303, 307, 308):
                if response.status >= 400:
                    raise RuntimeError(f"{response.status} at {method} {path}: {text[:300]}")
                return text
            parts = urllib.parse.urlsplit(urllib.parse.urljoin(path, response.getheader("Location") or ""))
            method, body, path = "GET", None, parts.path + (f"?{parts.query}" if parts.query else "")
        raise RuntimeError(f"too many redirects at {path}")

    def token(self, page: str) -> str:
        """Return the CSRF token of a Django form."""
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert found is not None, page[:500]
        return found[1]


class Server:
    """The processes of a platform, ended with the block."""

    def __init__(self, command: list[str], folder: Path, **environment: str) -> None:
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=folder, env={**os.environ, **environment}, stdout=log, stderr=log, start_new_session=True
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is not None:
            return
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of all processes."""
        return cpu_seconds_of(self.process.pid)

    def until_up(self, port: int, path: str = "/", seconds: float = 120) -> None:
        """Wait until the server answers."""
        end, last = time.monotonic() + seconds, ""
        while time.monotonic() < end and self.process.poll() is None:
            try:
                Session(port).ask("GET", path)
            except (OSError, http.client.HTTPException, RuntimeError) as error:
                last = str(error)
                time.sleep(0.5)
            else:
                return
        raise RuntimeError(f"nothing answers on port {port}: {last}\n{self.log.read_text()[-2000:]}")


Labels = Callable[[], None]
AtWork = tuple[Server, list[tuple[Session, Labels]]]

TURKLE_SETTINGS = """
SECRET_KEY = "only-for-this-measurement"
ALLOWED_HOSTS, DEBUG, USE_TZ, STATIC_URL, ROOT_URLCONF = ["*"], False, True, "/static/", "urls"
X_FRAME_OPTIONS, LOGIN_URL, LOGIN_REDIRECT_URL, DEFAULT_AUTO_FIELD = "SAMEORIGIN", "login", "index", "django.db.models.AutoField"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3", "OPTIONS": {"timeout": 60}}}
TURKLE_SITE_NAME, TURKLE_TEMPLATE_LIMIT, TURKLE_EMAIL_ENABLED, META_TAGS = "Turkle", 64, False, []
TURKLE_AUTO_ACCEPT_DEFAULT = True
_PROCESSORS = ["django.contrib.auth.context_processors.auth", "django.template.context_processors.request",
               "django.contrib.messages.context_processors.messages", "turkle.utils.turkle_vars"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
              "OPTIONS": {"context_processors": _PROCESSORS}}]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware", "django.contrib.sessions.middleware.SessionMiddleware",
              "django.middleware.csrf.CsrfViewMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
              "django.contrib.messages.middleware.MessageMiddleware",
              "django.middleware.clickjacking.XFrameOptionsMiddleware"]
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
                  "django.contrib.messages", "django.contrib.staticfiles", "turkle", "django.contrib.admin",
                  "rest_framework", "rest_framework.authtoken", "turkle.api", "guardian", "djaa_list_filter2"]
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend", "guardian.backends.ObjectPermissionBackend"]
"""
TURKLE_URLS = """
from django.urls import include, path
from django.contrib import admin
urlpatterns = [path("admin/", admin.site.urls), path("", include("django.contrib.auth.urls")), path("", include("turkle.urls"))]
"""
TURKLE_FILL = """
import json, sys, django
django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
from turkle.models import Batch, Project, Task
call_command("migrate", verbosity=0)
people, votes, password, texts = json.load(sys.stdin)
for number in range(people):
    User.objects.create_user(f"w{number}", password=password)
form = "<p>${question}</p><p>${answer}</p>" + "".join(f'<input type="radio" name="label" value="{n}">' for n in (1, 2, 3, 4))
project = Project.objects.create(name="pairs", html_template=form, filename="pairs.html", active=True)
batch = Batch.objects.create(name="pairs", project=project, filename="pairs.csv", assignments_per_task=votes, active=True, published=True)
Task.objects.bulk_create([Task(batch=batch, input_csv_fields={"question": q, "answer": a}) for q, a in texts])
print(batch.pk)
"""


def turkle(stack: ExitStack, python: str, folder: Path, port: int, people: int) -> AtWork:
    """Start Turkle behind gunicorn with the number of processes that it does best with."""
    (folder / "settings.py").write_text(TURKLE_SETTINGS)
    (folder / "urls.py").write_text(TURKLE_URLS)
    (folder / "wsgi.py").write_text(
        "from django.core.wsgi import get_wsgi_application\napplication = get_wsgi_application()\n"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(folder)}
    given = json.dumps([people, VOTES, PASSWORD, TEXTS])
    filled = subprocess.run(
        [python, "-c", TURKLE_FILL], input=given, cwd=folder, env={**os.environ, **environment},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    batch = filled.stdout.split()[-1]
    command = [python, "-m", "gunicorn", "wsgi:application", "--bind", f"127.0.0.1:{port}"]
    threads = ["--workers", "1"]  # with more, most requests find the database busy
    server = stack.enter_context(Server([*command, *threads], folder, **environment))
    server.until_up(port, "/login/")
    at_work = []
    for number in range(people):
        own = Session(port)
        page = own.ask("GET", "/login/")
        own.ask("POST", "/login/", urllib.parse.urlencode(
            {"csrfmiddlewaretoken": own.token(page), "username": f"w{number}", "password": PASSWORD}))  # fmt: skip
        own.ask("GET", f"/batch/{batch}/accept_next_task/")

        def label(own: Session = own) -> None:
            task = own.url
            frame = own.ask("GET", re.sub(r"assignment/", "assignment/iframe/", task))
            fields = {"csrfmiddlewaretoken": own.token(frame) if "csrfmiddle" in frame else own.cookies["csrftoken"]}
            page = own.ask("POST", task, urllib.parse.urlencode({**fields, "label": "3"}))
            for _ in range(MOST_TRIES):  # "The database is busy. Please try again."
                if "/assignment/" in own.url:
                    return
                page = own.ask("GET", f"/batch/{batch}/accept_next_task/")
            if "/assignment/" not in own.url:
                raise RuntimeError(f"no task at {own.url}: {re.findall('alert.*?</', page, re.DOTALL)[:3]}")

        at_work.append((own, label))
    return server, at_work


LABEL_STUDIO_FORM = """<View><Text name="question" value="$question"/><Text name="answer" value="$answer"/>
<Choices name="label" toName="answer">
<Choice value="1"/><Choice value="2"/><Choice value="3"/><Choice value="4"/></Choices></View>"""


def label_studio(stack: ExitStack, python: str, folder: Path, port: int, people: int) -> AtWork:
    """Start Label Studio as its quick start says."""
    command = [str(Path(python).parent / "label-studio"), "start", "--no-browser", "--internal-host", "127.0.0.1"]
    command += ["--port", str(port), "--username", "a@crowd.example", "--password", PASSWORD]
    own = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder / "data"),
        "COLLECT_ANALYTICS": "False",
        "LATEST_VERSION_CHECK": "False",
    }
    server = stack.enter_context(Server(command, folder, **own))
    server.until_up(port, "/user/login/")

    def entered(path: str, email: str) -> Session:
        own = Session(port)
        page = own.ask("GET", path)
        own.ask("POST", path, urllib.parse.urlencode(
            {"csrfmiddlewaretoken": own.token(page), "email": email, "password": PASSWORD}))  # fmt: skip
        return own

    def say(own: Session, method: str, path: str, body: Any = None) -> Any:
        text = own.ask(method, path, body, **{"X-CSRFToken": own.cookies.get("csrftoken", "")})
        return json.loads(text) if text else None

    boss = entered("/user/login/", "a@crowd.example")
    project = say(boss, "POST", "/api/projects", {
        "title": "pairs", "label_config": LABEL_STUDIO_FORM, "maximum_annotations": VOTES})["id"]  # fmt: skip
    say(boss, "POST", f"/api/projects/{project}/import", [{"question": q, "answer": a} for q, a in TEXTS])
    invited = urllib.parse.urlsplit(say(boss, "GET", "/api/invite")["invite_url"])
    at_work = []
    for number in range(people):
        own = entered(f"{invited.path}?{invited.query}", f"w{number}@crowd.example")
        following = {"task": say(own, "GET", f"/api/projects/{project}/next")}

        def label(own: Session = own, following: dict[str, Any] = following) -> None:
            chosen = {"from_name": "label", "to_name": "answer", "type": "choices", "value": {"choices": ["3"]}}
            say(own, "POST", f"/api/tasks/{following['task']['id']}/annotations?project={project}", {
                "lead_time": 1.5, "result": [chosen], "draft_id": 0, "parent_prediction": None, "parent_annotation": None})  # fmt: skip
            following["task"] = say(own, "GET", f"/api/projects/{project}/next")

        at_work.append((own, label))
    return server, at_work


POTATO = """
annotation_task_name: pairs
task_dir: .
output_annotation_dir: annotation_output
output_annotation_format: jsonl
data_files: [pairs.jsonl]
item_properties: {id_key: id, text_key: text}
user_config: {allow_all_users: true, users: []}
alert_time_each_instance: 10000000
assignment_strategy: fixed_order
max_annotations_per_item: 3
max_annotations_per_user: -1
annotation_schemes:
  - {annotation_type: radio, name: relevance, description: "How good is the answer?", labels: ["1", "2", "3", "4"]}
site_dir: default
"""


def potato(stack: ExitStack, python: str, folder: Path, port: int, people: int) -> AtWork:
    """Start Potato as its quick start says."""
    (folder / "config.yaml").write_text(POTATO)
    lines = (json.dumps({"id": f"p{number}", "text": f"{q}\n{a}"}) for number, (q, a) in enumerate(TEXTS))
    (folder / "pairs.jsonl").write_text("\n".join(lines))
    command = [str(Path(python).parent / "potato"), "start", "config.yaml", "-p", str(port), "--host", "127.0.0.1"]
    server = stack.enter_context(Server(command, folder))
    server.until_up(port)
    at_work = []
    for number in range(people):
        own = Session(port)
        own.ask(
            "POST", "/register", urllib.parse.urlencode({"email": f"w{number}", "pass": PASSWORD, "action": "signup"})
        )

        first = {"page": own.ask("GET", "/annotate")}

        def label(own: Session = own, shown: dict[str, str] = first) -> None:
            found = re.search(r'id="instance_id"[^>]*value="([^"]+)"', shown["page"])
            assert found is not None, shown["page"][:2000]
            own.ask("POST", "/updateinstance", {
                "instance_id": found[1], "annotations": {"relevance:3": "3"}, "cleared_schemas": [],
                "span_annotations": [], "response_time_seconds": 1.5})  # fmt: skip
            own.ask(
                "POST",
                "/annotate",
                {"action": "next_instance", "instance_id": found[1]},
                **{"X-Potato-Navigation": "1"},
            )
            shown["page"] = own.ask("GET", "/annotate")

        at_work.append((own, label))
    return server, at_work


PEERS = {"turkle": turkle, "label-studio": label_studio, "potato": potato}


def main() -> None:
    """Measure one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("python")
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=12)
    asked = parser.parse_args()
    machine = calibration()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, ExitStack() as stack:
        server, at_work = PEERS[asked.peer](stack, asked.python, Path(place), any_port(), asked.people)
        for _, label in at_work:  # what is compiled or read at the first one
            label()
        took: list[float] = []
        end, before = time.monotonic() + asked.seconds, server.cpu_seconds()
        failed: list[BaseException] = []

        def work(label: Labels) -> None:
            while time.monotonic() < end:
                begun = time.perf_counter()
                try:
                    label()
                except (RuntimeError, AssertionError, OSError, http.client.HTTPException) as error:
                    failed.append(error)
                    return
                took.append(time.perf_counter() - begun)

        requests = sum(own.requests for own, _ in at_work)
        threads = [threading.Thread(target=work, args=(label,)) for _, label in at_work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        spent = server.cpu_seconds() - before
        took.sort()
        figures(**{
            "labels a second": round(len(took) / asked.seconds, 1),
            "CPU ms a label": round(1000 * spent / max(1, len(took)), 1),
            "requests a label": round((sum(own.requests for own, _ in at_work) - requests) / max(1, len(took)), 1),
            "p50 ms": round(1000 * took[len(took) // 2]) if took else 0,
            "p95 ms": round(1000 * took[int(0.95 * len(took))]) if took else 0,
            "people stopped by an error": len(failed),
            **machine,
        })  # fmt: skip
        for error in failed[:2]:
            print(str(error)[:1000])


if __name__ == "__main__":
    main()
