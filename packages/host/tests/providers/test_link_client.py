"""Files behind links, over a real network: public addresses only, with limits of size and time."""

import asyncio

import pytest

from parlour.core.model.providers import ProviderFailed
from parlour.providers.http.link_client import LinkClient

from .test_hook_client import LOCAL_ADDRESSES, respond_with, serving


async def fetch(url: str, allowed: list[str] = LOCAL_ADDRESSES, largest: int = 1000, seconds: float = 30) -> bytes:
    return b"".join([piece async for piece in LinkClient(allowed, largest, seconds).fetch("url", url)])


async def refused(url: str, **options: object) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as failure:
        await fetch(url, **options)  # type: ignore[arg-type]
    assert url not in failure.value.message
    assert "127.0.0.1" not in failure.value.message
    return failure.value


async def test_a_file_is_fetched_whole() -> None:
    async with serving(respond_with("200 OK", b"x" * 1000)) as url:
        assert await fetch(url) == b"x" * 1000


async def test_a_file_that_is_too_large_is_refused() -> None:
    async with serving(respond_with("200 OK", b"x" * 1001)) as url:
        failure = await refused(url)
    assert (failure.code, "more than 1000 bytes" in failure.message) == ("payload_too_large", True)


@pytest.mark.parametrize(("status", "retryable"), [("404 Not Found", False), ("502 Bad Gateway", True)])
async def test_an_error_status_is_reported(status: str, retryable: bool) -> None:
    async with serving(respond_with(status)) as url:
        failure = await refused(url)
    assert (status[:3] in failure.message, failure.retryable) == (True, retryable)


async def test_an_address_that_is_not_public_is_refused_also_behind_a_redirect() -> None:
    async with serving(respond_with("200 OK", b"secret")) as inside:
        assert "not public" in (await refused(inside, allowed=[])).message
        elsewhere = inside.replace("127.0.0.1", "localhost")
        async with serving(respond_with(f"302 Found\r\nlocation: {elsewhere}")) as url:
            assert await fetch(url) == b"secret"
        async with serving(respond_with("302 Found\r\nlocation: http://[::1]:1/")) as url:
            assert "not public" in (await refused(url)).message


async def test_a_file_that_takes_too_long_is_refused() -> None:
    async def wait(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async with serving(wait) as url:
        failure = await refused(url, seconds=0.05)
    assert ("within 0.05 s" in failure.message, failure.retryable) == (True, True)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/a", "cat.png", "http://"])
async def test_an_invalid_web_address_is_refused(url: str) -> None:
    assert not (await refused(url)).retryable
