"""A browser of few words: pages, forms and cookies over real HTTP, no scripts."""

import http.client
import socket
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookiejar import CookieJar

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


@dataclass
class Form:
    """A form: where it goes, its fields, and its buttons as (name, value)."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)
    choices: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Page:
    """A page as a person who reads its source sees it."""

    url: str
    status: int
    text: str
    forms: list[Form] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    frames: list[str] = field(default_factory=list)
    marked: dict[str, str] = field(default_factory=dict)  # text by the class or id of its element

    def form_to(self, part: str) -> Form | None:
        """Return the first form whose address holds a part."""
        return next((form for form in self.forms if part in form.action), None)


class _Reader(HTMLParser):
    """Collects what a page offers; text is kept for elements with an id or a class."""

    def __init__(self, page: Page) -> None:
        super().__init__(convert_charrefs=True)
        self.page = page
        self.form: Form | None = None
        self.open: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag not in VOID:
            self.open.append((tag, [values.get("id", ""), *values.get("class", "").split()]))
        if tag == "form":
            action = urllib.parse.urljoin(self.page.url, values.get("action") or self.page.url)
            self.form = Form(action, values.get("method", "get").lower())
            self.page.forms.append(self.form)
        elif tag == "a" and "href" in values:
            self.page.links.append(urllib.parse.urljoin(self.page.url, values["href"]))
        elif tag == "iframe":
            self.page.frames.append(values.get("src", ""))
        elif self.form is not None and values.get("name"):
            self._control(tag, values)

    def _control(self, tag: str, values: dict[str, str]) -> None:
        assert self.form is not None
        name, value = values["name"], values.get("value", "")
        if tag == "button":
            self.form.buttons.append((name, value))
        elif values.get("type") in ("radio", "checkbox"):
            self.form.choices.setdefault(name, []).append(value)
        elif tag in ("input", "textarea"):
            self.form.fields[name] = value

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        while self.open:
            if self.open.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        for name in {name for _, names in self.open for name in names if name}:
            self.page.marked[name] = self.page.marked.get(name, "") + data


class _Connection(http.client.HTTPConnection):
    """Reaches every ``*.localhost`` on this machine, as browsers do."""

    def connect(self) -> None:
        host = "127.0.0.1" if self.host.endswith("localhost") else self.host
        self.sock = socket.create_connection((host, self.port), self.timeout)


class _Handler(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, request)


class Browser:
    """One person's browser: cookies of its own, redirects followed, every answer read."""

    def __init__(self, *, timeout: float = 60.0) -> None:
        self.cookies = CookieJar()
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_Handler, urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, url: str) -> Page:
        """Return a page."""
        return self._open(urllib.request.Request(url))  # noqa: S310  http only: the handler knows nothing else

    def send(self, form: Form, **values: str) -> Page:
        """Fill a form in, send it, and return the page that comes."""
        data = urllib.parse.urlencode({**form.fields, **values})
        if form.method == "get":
            return self.get(f"{form.action}?{data}")
        return self._open(urllib.request.Request(form.action, data=data.encode()))  # noqa: S310

    def _open(self, request: urllib.request.Request) -> Page:
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                page = Page(response.url, response.status, response.read().decode("utf-8", "replace"))
        except urllib.error.HTTPError as error:
            with error:
                page = Page(error.url or request.full_url, error.code, error.read().decode("utf-8", "replace"))
        _Reader(page).feed(page.text)
        return page
