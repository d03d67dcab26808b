"""A machine in a folder, on which the commands of a page of the documentation run as they stand there.

Folders of the system (``/opt/quorate``, ``/etc/nginx`` and so on) are folders below a temporary one, ports are free
ones, and programs that would change the machine are small stand-ins first on the PATH: apt-get, useradd, runuser,
createuser, createdb, git (copies this working tree), certbot (makes a certificate with openssl) and systemctl (`tests.deploy.units`).
"""

import json
import os
import re
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

from console.serving import any_port
from tests.conftest import NGINX, ROOT
from tests.deploy.places import FOLDERS, rewritten
from tests.deploy.units import Units

CONFIGURATION = """
user root;
pid {root}/nginx.pid;
error_log {root}/nginx-error.log;
events {{ worker_connections 1024; }}
http {{
  client_body_temp_path {root}/body;
  proxy_temp_path {root}/proxy;
  fastcgi_temp_path {root}/fastcgi;
  uwsgi_temp_path {root}/uwsgi;
  scgi_temp_path {root}/scgi;
  include {root}/etc/nginx/conf.d/*.conf;
}}
"""
SHIMS = {
    "apt-get": "exit 0",
    "useradd": "exit 0",
    "createuser": "exit 0",
    "runuser": 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
    "createdb": "exit 0",  # they are there already, and empty
    "python3": (  # the environment of the tests has the same packages; a commit's own packages are installed for real
        'if [ "$1 $2" = "-m venv" ] && [ -z "${{REAL_ENVIRONMENT:-}}" ]; then exec ln -s "{venv}" "$3"; fi; exec "{python3}" "$@"'
    ),
    "install": (  # there is no user quorate
        'arguments=""; while [ $# -gt 0 ]; do case "$1" in -o|-g) shift;; *) arguments="$arguments $1";; esac; shift; done;'
        ' exec "{install}" $arguments'
    ),
    "git": (
        'for target; do :; done; mkdir -p "$target"; cd "{source}"; git() {{ "{git}" "$@"; }};'
        " git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -cf - -T - | tar -xf - -C"
        ' "$target"; "{python}" "{source}/tests/deploy/places.py" "$MACHINE" "$PORTS" $(find "$target/deploy" -type f)'
    ),
    "certbot": (
        'names=(); while [ $# -gt 0 ]; do case "$1" in --domain) names+=("$2"); shift;; esac; shift; done;'
        ' folder="{root}/etc/letsencrypt/live/${{names[0]}}"; mkdir -p "$folder"; all=$(printf ",DNS:%s" "${{names[@]}}");'
        ' openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=${{names[0]}}" -addext "subjectAltName=${{all#,}}"'
        ' -addext basicConstraints=critical,CA:TRUE -keyout "$folder/privkey.pem" -out "$folder/fullchain.pem" 2>/dev/null;'
        ' cat "$folder/fullchain.pem" >>"{root}/certificates.pem"'
    ),
    "nginx": 'exec "{nginx}" -p "{root}" -c "{root}/etc/nginx/nginx.conf" "$@"',
    "systemctl": 'exec "{python}" -c "{client}" "{root}/systemctl.sock" "$@"',
}
CLIENT = (
    "import json,socket,sys;s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);"
    "s.sendall(json.dumps(sys.argv[2:]).encode());s.shutdown(socket.SHUT_WR);"
    "a=json.loads(s.makefile().read());(sys.stderr if a[0] else sys.stdout).write(a[1]);sys.exit(a[0])"
)


class Machine:
    """The folder, its services, and a shell that follows a page."""

    def __init__(self, root, *, database, redis_port):
        self.root, self.database = Path(root), database
        self.https, self.http, self.market = any_port(), any_port(), any_port()
        self.ports = {"6379": str(redis_port), "8100": str(self.market)}
        for one in FOLDERS:
            (self.root / one.lstrip("/")).mkdir(parents=True, exist_ok=True)
        (self.root / "etc/nginx/conf.d").mkdir()
        (self.root / "etc/systemd/system").mkdir()
        (self.root / "etc/nginx/nginx.conf").write_text(CONFIGURATION.format(root=self.root))
        self.log = (self.root / "services.log").open("a")
        self.units = Units(self.root / "etc/systemd/system", self.rewritten, self.log)
        self.nginx = None
        self.certificate = self.root / "certificates.pem"
        self.environment = os.environ | {
            "PATH": f"{self._shims()}:{self.root}/usr/local/bin:{os.environ['PATH']}",
            "SSL_CERT_FILE": str(self.certificate),
            "MACHINE": str(self.root),
            "PORTS": json.dumps(self.ports),
            "CURL_CA_BUNDLE": str(self.certificate),
            "DJANGO_SUPERUSER_EMAIL": "boss@example.org",
            "DJANGO_SUPERUSER_PASSWORD": "the first administrator",
        }
        for unwanted in (
            "DATABASE_URL",
            "REDIS_URL",
            "DJANGO_SETTINGS_MODULE",
            "AND",
            "QUORATE_REQUIRE",
            "DJANGO_ALLOW_ASYNC_UNSAFE",
        ):
            self.environment.pop(unwanted, None)
        self._listen()

    @property
    def url(self):
        return f"https://localhost:{self.https}"

    def rewritten(self, text):
        """Return a text with the machine's folders and ports in place of the system's."""
        return rewritten(text, self.root, self.ports)

    def follow(self, page, *, changes=()):
        """Run the commands of a page in one shell; ``changes`` are (pattern, replacement) for what has to differ."""
        blocks = re.findall(r"^ *```sh\n(.*?)^ *```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
        assert blocks
        script = "\n".join(re.sub(r"^   ", "", block, flags=re.MULTILINE) for block in blocks)
        for pattern, replacement in changes:
            script, number = re.subn(pattern, replacement, script)
            assert number, pattern
        return self.run(script)

    def run(self, script, *, is_checked=True):
        """Run commands as root would, and return their output."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.rewritten(script)],
            env=self.environment,
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0 or not is_checked, f"{done.stdout[-6000:]}\n{self.said()}"
        return done.stdout

    def said(self):
        """Return the end of what the services logged."""
        return (self.root / "services.log").read_text()[-4000:]

    def context(self):
        """Return a TLS context that trusts the machine's certificate."""
        return ssl.create_default_context(cafile=str(self.certificate))

    def statuses(self):
        """Return the status of each request in nginx's log."""
        path = self.root / "var/log/nginx/quorate.log"
        return [json.loads(line)["status"] for line in path.read_text().splitlines()]

    def close(self):
        """End all services."""
        self.units.stop_all()
        if self.nginx is not None:
            self.nginx.terminate()
            self.nginx.wait()
        self.listener.shutdown(socket.SHUT_RDWR)  # closing alone leaves the thread waiting
        self.listener.close()
        self.thread.join()
        self.log.close()

    def _shims(self):
        folder = self.root / "shims"
        folder.mkdir()
        names = ("install", "git", "nginx", "python3")
        known = {name: shutil.which(name) or NGINX for name in names}
        known |= {
            "root": self.root,
            "ports": json.dumps(self.ports),
            "database": self.database,
            "source": ROOT,
            "venv": sys.prefix,
        }
        known |= {"python": sys.executable, "client": CLIENT.replace('"', '\\"')}
        for name, text in SHIMS.items():
            path = folder / name
            path.write_text(f"#!/bin/bash\nset -eu\n{text.format(**known)}\n")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return folder

    def _listen(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(f"{self.root}/systemctl.sock")
        self.listener.listen()
        self.thread = threading.Thread(target=self._answer)
        self.thread.start()

    def _answer(self):
        while True:
            try:
                asked, _ = self.listener.accept()
            except OSError:  # closed
                return
            with asked:
                arguments = [one for one in json.loads(asked.makefile().read()) if not one.startswith("--")]
                try:
                    code, text = self._systemctl(*arguments), ""
                    if arguments[0] == "show":  # NRestarts: a service that ended isn't started again here
                        text = "0\n"
                except Exception as error:  # noqa: BLE001  whatever it is, the command has to say it
                    code, text = 1, f"systemctl {' '.join(arguments)}: {error!r}\n"
                asked.sendall(json.dumps([code, text]).encode())

    def _systemctl(self, what, *units):
        if what == "daemon-reload" or units == ("systemd-journald",):
            return 0
        if units == ("nginx",):
            return self._nginx(what)
        if what == "show":
            return 0
        if what == "is-active":
            return 0 if self.units.is_active(*units) else 3
        if what == "reset-failed":
            return 0
        act = {"enable": self.units.start, "start": self.units.start, "restart": self.units.restart}[what]
        for unit in units:
            act(unit)
        return 0

    def _nginx(self, what):
        assert what == "reload"
        self._own_ports()
        if self.nginx is None:
            command = [str(self.root / "shims/nginx"), "-g", "daemon off;"]
            self.nginx = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        else:
            self.nginx.send_signal(signal.SIGHUP)
            time.sleep(1)  # until its new processes answer; a person takes longer to type
        return 0

    def _own_ports(self):
        """Have nginx listen on free ports of this machine alone."""
        for path in (self.root / "etc/nginx/conf.d").glob("*.conf"):
            text = re.sub(r"\n *listen \[::\][^;]*;", "", path.read_text())
            text = re.sub(r"listen 443 ", f"listen 127.0.0.1:{self.https} ", text)
            path.write_text(re.sub(r"listen 80;", f"listen 127.0.0.1:{self.http};", text))
