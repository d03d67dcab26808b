"""Pages travel compressed and with a random length; what is streamed travels as it is."""

import gzip

import pytest
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory

from tests import factories
from web.compression import CompressedPagesMiddleware


@pytest.mark.django_db
def test_a_page_of_someone_who_is_logged_in_is_compressed(client):
    client.force_login(factories.user("boss", is_admin=True))
    plain = client.get("/campaigns/new/")
    packed = client.get("/campaigns/new/", headers={"Accept-Encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip" and "Accept-Encoding" in packed["Vary"]
    assert len(packed.content) * 2 < len(plain.content)
    assert b"</html>" in gzip.decompress(packed.content)


def test_the_length_says_nothing_and_downloads_are_left_alone(tmp_path):
    request = RequestFactory().get("/", headers={"Accept-Encoding": "gzip"})

    def through(response):
        return CompressedPagesMiddleware(lambda request: response)(request)

    assert len({len(through(HttpResponse("a page " * 200)).content) for _ in range(40)}) > 3
    (tmp_path / "rows.json").write_text("[1, 2]" * 200)
    for stream in (
        FileResponse((tmp_path / "rows.json").open("rb")),
        StreamingHttpResponse(["x" * 900], content_type="text/html"),
    ):
        assert "Content-Encoding" not in through(stream)
    assert "Content-Encoding" not in through(HttpResponse("x" * 900, content_type="application/gzip"))


@pytest.mark.django_db
def test_the_token_of_a_form_is_masked_anew_in_every_answer():
    pages = [Client().get("/account/login/").content for _ in range(2)]
    tokens = {page.split(b'name="csrfmiddlewaretoken" value="')[1][:64] for page in pages}
    assert len(tokens) == 2
