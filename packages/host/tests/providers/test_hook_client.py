"""Webhook calls over a real network: public addresses only, no redirects, bounded answers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from parlour.core.webhooks.client import MAX_RESPONSE_BYTES, Unreachable, WebhookHttpRequest
from parlour.providers.http.webhook_client import AiohttpWebhookClient
from parlour.testing.network import free_port

LOCAL_ADDRESSES = ["127.0.0.1/32"]
Behave = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(behave: Behave) -> AsyncIterator[str]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await behave(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/in"


def respond_with(head: str, body: bytes = b"") -> Behave:
    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {head}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()

    return behave


def request(url: str, seconds: float = 30) -> WebhookHttpRequest:
    return WebhookHttpRequest("POST", url, {"x-own": "1"}, b"{}", seconds)


async def test_an_answer_comes_back_with_its_status_and_body() -> None:
    async with serving(respond_with("201 Created", b"yes")) as url:
        answer = await AiohttpWebhookClient(LOCAL_ADDRESSES).send(request(url))
    assert (answer.status, answer.body, answer.retry_after) == (201, b"yes", None)


async def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    async with serving(respond_with("302 Found\r\nlocation: http://127.0.0.1:1/elsewhere")) as url:
        answer = await AiohttpWebhookClient(LOCAL_ADDRESSES).send(request(url))
    assert answer.status == 302


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("7", 7.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("soon", None),
        (f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT", None),
    ],
)
async def test_a_valid_retry_after_header_is_read(written: str, seconds: float | None) -> None:
    async with serving(respond_with(f"429 Too Many\r\nretry-after: {written}")) as url:
        answer = await AiohttpWebhookClient(LOCAL_ADDRESSES).send(request(url))
    assert answer.retry_after == seconds


async def test_an_endless_answer_is_cut() -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n")
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()

    async with serving(endless) as url:
        answer = await AiohttpWebhookClient(LOCAL_ADDRESSES).send(request(url))
    assert MAX_RESPONSE_BYTES < len(answer.body) <= MAX_RESPONSE_BYTES + 65_536


async def test_a_server_that_does_not_answer_in_time_is_reported() -> None:
    async def silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with serving(silent) as url:
        with pytest.raises(Unreachable, match=r"did not answer within 0\.2 s") as failure:
            await AiohttpWebhookClient(LOCAL_ADDRESSES).send(request(url, 0.2))
    assert not failure.value.permanent


async def test_an_unresolvable_name_may_be_retried() -> None:
    with pytest.raises(Unreachable, match=r"there is no host 'nowhere\.invalid'") as failure:
        await AiohttpWebhookClient(LOCAL_ADDRESSES).send(request("http://nowhere.invalid/in"))
    assert not failure.value.permanent


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "it hung up without an answer"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", "its answer broke off"),
        (b"\x00\x01\r\n\r\n", "its answer is no valid HTTP"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"a" * 100_000 + b"\r\n\r\n", "its answer is no valid HTTP"),
    ],
    ids=["none", "half", "no http", "endless header"],
)
async def test_an_invalid_answer_is_reported_and_may_be_retried(answer: bytes, reason: str) -> None:
    async def answer_badly(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    async with serving(answer_badly) as url:
        with pytest.raises(Unreachable, match=f"^{reason}$") as failure:
            await AiohttpWebhookClient(LOCAL_ADDRESSES).send(request(url))
    assert not failure.value.permanent


async def test_a_closed_port_is_reported() -> None:
    with pytest.raises(Unreachable, match="it could not be reached: Connection refused") as failure:
        await AiohttpWebhookClient(LOCAL_ADDRESSES).send(request(f"http://127.0.0.1:{free_port()}/in"))
    assert not failure.value.permanent


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "169.254.169.254", "0.0.0.0"])
async def test_a_private_address_is_refused_permanently_and_never_connected_to(host: str) -> None:
    with pytest.raises(Unreachable, match=r"address can't be used|tools\.allowed_addresses") as failure:
        await AiohttpWebhookClient([]).send(request(f"http://{host}:9/in"))
    assert failure.value.permanent
