"""Web pages are fetched as text, with protection against hostile pages."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from parlour.network.address_guard import AddressAllowlist
from parlour.providers.tools.native.web_fetch import MAX_PAGE_BYTES, WebFetch
from parlour_sdk.protocol.content import plain_text

from ..sources import ASKING
from .web_server import Web, serving

LOCAL_ADDRESSES = AddressAllowlist.parse(["localhost"])
INVALID_URLS = [
    *("file:///etc/passwd", "ftp://localhost/", "gopher://localhost", "localhost", "", "http://", "http://[::1"),
    *("http://a:b@localhost/", "http://2130706433/", "http://localhost:99999/"),
]


@pytest.fixture
async def pages() -> AsyncIterator[Web]:
    async with serving() as web:
        yield web


async def fetched(url: str, seconds: float = 30, allowed: AddressAllowlist = LOCAL_ADDRESSES) -> tuple[bool, str]:
    outcome = await WebFetch(allowed, seconds).call(ASKING, {"url": url})
    return outcome.is_error, plain_text(outcome.content)


@pytest.mark.parametrize(
    ("path", "text"),
    [("/hello", "# Hello\n\nWörld"), ("/away", "# Hello\n\nWörld"), ("/latin", "Wörld"), ("/unknown-charset", "Wörld")],
)
async def test_a_page_is_returned_as_text_with_its_address(pages: Web, path: str, text: str) -> None:
    address = pages.url("/hello" if path == "/away" else path)
    assert await fetched(pages.url(path)) == (False, f"{address}\n\n{text}")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/image", "this is no text but image/png of 4 bytes; only text is read"),
        ("/missing", "localhost answered 404 Not Found"),
        ("/inside", "'127.0.0.2' is not a public address, and the operator did not allow it"),
        ("/elsewhere", "the page redirects to something that is not the web"),
        ("/circle", "the page redirects more than 5 times"),
        ("/broken", "the page can't be read: ClientPayloadError"),
    ],
)
async def test_an_unreadable_page_is_reported(pages: Web, path: str, message: str) -> None:
    assert await fetched(pages.url(path)) == (True, message)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]"])
async def test_a_private_address_is_refused_and_never_requested(pages: Web, host: str) -> None:
    failed, message = await fetched(pages.url("/hello", host), allowed=AddressAllowlist())
    assert (failed, pages.requested_paths) == (True, [])
    assert "is not a public address" in message


@pytest.mark.parametrize("url", INVALID_URLS)
async def test_an_invalid_web_address_is_refused(url: str) -> None:
    failed, message = await fetched(url)
    assert failed
    assert message.startswith("url: ")


@pytest.mark.parametrize("path", ["/gigabyte", "/bomb"])
async def test_the_beginning_of_a_page_that_is_too_large_is_read(pages: Web, path: str) -> None:
    failed, text = await fetched(pages.url(path))
    assert not failed
    assert text.endswith(f"[cut after {MAX_PAGE_BYTES} bytes]")
    assert len(text) < MAX_PAGE_BYTES + 200
    if path == "/gigabyte":
        await asyncio.wait_for(pages.left.wait(), 30)


async def test_an_endless_stream_is_read_until_the_time_limit(pages: Web) -> None:
    failed, text = await fetched(pages.url("/endless"), seconds=1)
    assert (failed, "more and" in text) == (False, True)
    assert text.endswith("[cut because the page took too long]")
    await asyncio.wait_for(pages.left.wait(), 30)


async def test_a_page_that_never_answers_times_out(pages: Web) -> None:
    assert await fetched(pages.url("/silent"), seconds=0.2) == (True, "the page did not answer within 0.2 s")
    pages.left.set()


async def test_an_unknown_host_is_reported() -> None:
    failed, message = await fetched("http://nowhere.invalid/")
    assert (failed, message) == (True, "there is no host 'nowhere.invalid'")
