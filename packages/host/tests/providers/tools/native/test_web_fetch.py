"""Pages of the web as text, and everything that a page may try."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from parlour.providers.http.address_guard import AddressAllowlist
from parlour.providers.tools.native.web_fetch import MAX_PAGE_BYTES, WebFetch
from parlour_sdk.protocol.content import plain_text

from ..sources import ASKING
from .web_server import Web, serving

HERE = AddressAllowlist.parse(["localhost"])
NO_ADDRESSES = [
    *("file:///etc/passwd", "ftp://localhost/", "gopher://localhost", "localhost", "", "http://", "http://[::1"),
    *("http://a:b@localhost/", "http://2130706433/", "http://localhost:99999/"),
]


@pytest.fixture
async def pages() -> AsyncIterator[Web]:
    async with serving() as web:
        yield web


async def fetched(url: str, seconds: float = 30, allowed: AddressAllowlist = HERE) -> tuple[bool, str]:
    outcome = await WebFetch(allowed, seconds).call(ASKING, {"url": url})
    return outcome.is_error, plain_text(outcome.content)


@pytest.mark.parametrize(
    ("path", "text"),
    [("/hello", "# Hello\n\nWörld"), ("/away", "# Hello\n\nWörld"), ("/latin", "Wörld"), ("/unknown-charset", "Wörld")],
)
async def test_a_page_is_told_as_text_with_its_address(pages: Web, path: str, text: str) -> None:
    address = pages.url("/hello" if path == "/away" else path)
    assert await fetched(pages.url(path)) == (False, f"{address}\n\n{text}")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/image", "this is no text but image/png of 4 bytes; only text is read"),
        ("/missing", "localhost answered 404 Not Found"),
        ("/inside", "'127.0.0.2' is not a public address, and the operator did not allow it"),
        ("/elsewhere", "the page redirects to something that is not the web"),
        ("/circle", "the page redirects more than 5 times"),
        ("/broken", "the page can't be read: ClientPayloadError"),
    ],
)
async def test_what_can_not_be_read_is_a_sentence(pages: Web, path: str, words: str) -> None:
    assert await fetched(pages.url(path)) == (True, words)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]"])
async def test_an_address_inside_is_refused_and_never_asked(pages: Web, host: str) -> None:
    failed, words = await fetched(pages.url("/hello", host), allowed=AddressAllowlist())
    assert (failed, pages.asked) == (True, [])
    assert "is not a public address" in words


@pytest.mark.parametrize("url", NO_ADDRESSES)
async def test_what_is_no_address_of_the_web_is_refused(url: str) -> None:
    failed, words = await fetched(url)
    assert failed
    assert words.startswith("url: ")


@pytest.mark.parametrize("path", ["/gigabyte", "/bomb"])
async def test_of_a_page_that_is_too_large_the_beginning_is_read(pages: Web, path: str) -> None:
    failed, text = await fetched(pages.url(path))
    assert not failed
    assert text.endswith(f"[cut after {MAX_PAGE_BYTES} bytes]")
    assert len(text) < MAX_PAGE_BYTES + 200
    if path == "/gigabyte":
        await asyncio.wait_for(pages.left.wait(), 30)


async def test_of_a_stream_without_end_is_read_what_comes_in_time(pages: Web) -> None:
    failed, text = await fetched(pages.url("/endless"), seconds=1)
    assert (failed, "more and" in text) == (False, True)
    assert text.endswith("[cut because the page took too long]")
    await asyncio.wait_for(pages.left.wait(), 30)


async def test_a_page_that_never_answers_is_given_up(pages: Web) -> None:
    assert await fetched(pages.url("/silent"), seconds=0.2) == (True, "the page did not answer within 0.2 s")
    pages.left.set()


async def test_a_host_that_is_not_there_is_a_sentence() -> None:
    failed, words = await fetched("http://nowhere.invalid/")
    assert (failed, words) == (True, "there is no host 'nowhere.invalid'")
