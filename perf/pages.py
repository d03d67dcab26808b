"""How usable a page of 2.5 MB stays, and what the document pipeline does a second: ``python -m perf.pages``.

The large page is made of a real one's kind of content, generated here: sections, paragraphs, an
infobox, tables. Needs Chromium for the browser part.
"""

import os
import shutil
import statistics
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

from perf.setup import start

start()

import turbohtml
from django.urls import reverse

from documents.html.canonical import canonical_text
from documents.html.display import display_html
from documents.html.markup import Page
from documents.html.tokens import tokenize
from perf.calibration import calibration
from perf.figures import figures

WORDS = "the harbour of Lund was built in 1871 by an engineer whose name the council had nearly forgotten until then".split()


def large_page(megabytes):
    parts, size, section = (
        ["<!DOCTYPE html><html><head><title>Large</title></head><body><div id='content'><h1>Large</h1>"],
        0,
        0,
    )
    while size < megabytes * 1_000_000:
        section += 1
        block = f"<h2 id='s{section}'>Section {section}</h2>"
        for paragraph in range(6):
            text = " ".join(
                f"<a href='/wiki/{word}' title='{word}' class='mw-redirect'>{word}</a>" if n % 9 == 0 else word
                for n, word in enumerate(WORDS * 4)
            )
            block += f"<p>{section}.{paragraph} {text}.<sup id='cite_{section}_{paragraph}' class='reference'><a href='#n'>[{paragraph}]</a></sup></p>"
        rows = "".join(
            f"<tr><th scope='row'>{year}</th><td>{year * 7}</td><td>{year * 11} km</td></tr>"
            for year in range(1900, 1915)
        )
        block += f"<table class='wikitable'>{rows}</table>"
        parts.append(block)
        size += len(block)
    return "".join([*parts, "</div></body></html>"])


def pipeline(name, texts):
    """Print what each stage of the pipeline does a second of CPU (best of three), and what the bare parser does."""
    best = {}
    for _ in range(3):
        spent = dict.fromkeys(("bare parser", "structure", "tokens and candidates", "page for reading"), 0.0)
        tokens = 0
        for text in texts:
            marks = [time.process_time()]
            turbohtml.parse(text, source_locations=True)
            marks.append(time.process_time())
            page = Page(text)
            marks.append(time.process_time())
            result = tokenize(page)
            marks.append(time.process_time())
            display_html(text, result.candidates)
            marks.append(time.process_time())
            tokens += len(result.texts)
            for stage, (begun, ended) in zip(spent, pairwise(marks), strict=True):
                spent[stage] += ended - begun
        best = {stage: min(seconds, best.get(stage, seconds)) for stage, seconds in spent.items()}
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    machine = calibration()
    print(f"{name}: {megabytes:.2f} MB, {tokens:,} tokens; calibration {machine}")
    for stage, seconds in best.items():
        print(f"  {stage}: {1000 * seconds / megabytes:.0f} ms/MB")
    cut = best["structure"] + best["tokens and candidates"]
    print(f"  tokens and candidates with their structure: {megabytes / cut:.2f} MB/s")
    figures(**{"MB a second": round(megabytes / cut, 2)}, **machine)


def real_pages(folder):
    """Return the pages of the shared data, where there are any."""
    paths = sorted(path for name in ("nq-html", "wiki-html") for path in (folder / name).glob("*.html"))
    return [canonical_text(path.read_bytes()) for path in paths]


def campaign_with(text):
    """Return a campaign whose one item asks about the page, and a person who may answer it."""
    from tests import factories

    campaign = factories.campaign()
    factories.import_page(campaign, text, "large.html")
    factories.import_rows(campaign, [{"id": "1", "question": "who built the harbour", "document": "large.html"}])
    factories.launch(campaign)
    return campaign, factories.annotator(campaign)


def served():
    """Serve the platform on a free loopback port and return the server."""
    from socketserver import ThreadingMixIn
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

    from django.core.management import call_command

    call_command("createcachetable")
    call_command("collectstatic", verbosity=0, interactive=False)
    from config.wsgi import application  # reads the folder of static files as it is now

    class Quiet(WSGIRequestHandler):
        def log_message(self, *arguments):
            pass

    class Threaded(ThreadingMixIn, WSGIServer):
        daemon_threads = True

    server = make_server("127.0.0.1", 0, application, server_class=Threaded, handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def to_stage_two(page, address):
    """Open the desk, go to the page of the item, and return the seconds from asking to a usable page."""
    page.goto(address)
    if page.locator("[data-key=Enter]").count():
        page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage]")
    judged = not page.locator("[data-stage=question]").count()
    begun = time.perf_counter()
    page.reload() if judged else page.keyboard.press("1")
    page.wait_for_selector("[data-stage=long_answer] [data-outline] li")
    return time.perf_counter() - begun


def timed(page, act, *arguments):
    """Return the seconds until the screen shows what was done."""
    begun = time.perf_counter()
    act(*arguments)
    page.evaluate("() => new Promise(done => requestAnimationFrame(done))")
    return time.perf_counter() - begun


def browser(text):
    from django.conf import settings
    from django.test import Client
    from playwright.sync_api import sync_playwright

    campaign, person = campaign_with(text)
    server = served()
    base = f"http://127.0.0.1:{server.server_port}"
    client = Client()
    client.force_login(person)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        for throttle in (1, 4):
            context = chromium.new_context(viewport={"width": 1280, "height": 800})
            context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": base}])
            page = context.new_page()
            context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": throttle})
            ready = to_stage_two(page, base + reverse("work", args=[campaign.slug]))
            moves = [timed(page, page.keyboard.press, "j") for _ in range(30)]
            find = timed(page, page.fill, "#find", "Section 200")
            print(
                f"CPU throttled {throttle}x: stage 2 ready in {ready:.2f} s; a key to the next box "
                f"{1000 * statistics.median(moves):.0f} ms (median of 30); find {1000 * find:.0f} ms"
            )
            context.close()
        chromium.close()
    server.shutdown()


def main():
    page = large_page(2.5)
    pipeline("a generated page", [page])
    if "--short" in sys.argv:
        return
    if real := real_pages(Path(os.environ.get("QUORATE_SHARED", "../shared")) / "data"):
        pipeline("real pages", real)
    if shutil.which("chromium"):
        browser(page)


if __name__ == "__main__":
    main()
