"""How a WebSocket comes about, and in which words it doesn't."""

import asyncio
import logging
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from parlour_sdk.wire import ConnectionClosed, Peer, WireLimits
from parlour_sdk.wire.websocket import CannotConnect, WebSocketTransport, connect, serve, serve_admitted, server

from .outsider import Outsider, accept, dialled, outside_server, upgrade_request
from .support import TOKEN, Handlers, in_virtual_time, no_other_tasks, now, settle, websocket, within

CERTIFICATE = Path(__file__).with_name("certificate.pem")  # for 127.0.0.1, signed by itself


class Visitors:
    """Who was let in, and may talk as they like."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def __call__(self, path: str, transport: WebSocketTransport) -> None:
        self.paths.append(path)
        transport.start(lambda _: None, lambda _: None)


@pytest.fixture
def visitors() -> Visitors:
    return Visitors()


@pytest.fixture
async def port(visitors: Visitors) -> AsyncIterator[int]:
    def accepts(path: str) -> bool:
        return path == "/control" or path.startswith("/plugins/")

    async with serve("127.0.0.1", 0, TOKEN, visitors, accepts=accepts) as port:
        yield port


async def refusal(url: str, token: str | None = TOKEN, tls: ssl.SSLContext | None = None) -> CannotConnect:
    with pytest.raises(CannotConnect) as raised:
        await within(connect(url, token, tls=tls))
    return raised.value


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


async def test_the_right_token_opens_a_connection_under_the_path_it_names(port: int, visitors: Visitors) -> None:
    transport = await connect(f"ws://127.0.0.1:{port}/plugins/acme/echo?since=1", TOKEN)
    assert visitors.paths == ["/plugins/acme/echo"]
    transport.close()
    await within(transport.wait_closed())


async def test_a_token_can_decide_who_takes_the_connection() -> None:
    hosts = {"for-anna": Visitors(), "for-ben": Visitors()}
    async with serve_admitted("127.0.0.1", 0, hosts.get) as port:
        transport = await connect(f"ws://127.0.0.1:{port}/control", "for-ben")
        assert (await refusal(f"ws://127.0.0.1:{port}/control", "for-carl")).code == "unauthorized"
        assert (hosts["for-anna"].paths, hosts["for-ben"].paths) == ([], ["/control"])
        transport.close()
        await within(transport.wait_closed())


@pytest.mark.parametrize("token", ["open-sesam", "open-sesame1", "OPEN-SESAME", None])
async def test_a_wrong_or_missing_token_is_refused(port: int, visitors: Visitors, token: str | None) -> None:
    error = await refusal(f"ws://127.0.0.1:{port}/control", token)
    assert error.code == "unauthorized"
    assert "both sides need the same" in error.message
    assert TOKEN not in str(error)
    assert visitors.paths == []


@pytest.mark.parametrize(
    "headers",
    [
        [],
        ["Authorization: Basic open-sesame"],
        ["Authorization: open-sesame"],
        ["Authorization: Bearer \xfc"],
        ["Authorization: Bearer open-sesame", "Authorization: Bearer open-sesame"],
    ],
)
async def test_a_refusal_says_how_to_present_the_token(port: int, visitors: Visitors, headers: list[str]) -> None:
    async with dialled(port) as outsider:
        outsider.writer.write(upgrade_request(*headers))
        answer = await outsider.end()
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert answer.endswith(b"as 'Authorization: Bearer TOKEN'.\n")
    assert visitors.paths == []


async def test_an_unknown_path_is_refused_but_only_to_who_has_the_token(port: int, visitors: Visitors) -> None:
    error = await refusal(f"ws://127.0.0.1:{port}/elsewhere")
    assert error.code == "not_found"
    assert f"ws://127.0.0.1:{port}/elsewhere: it has nothing under that path" in error.message
    assert (await refusal(f"ws://127.0.0.1:{port}/elsewhere", "guess")).code == "unauthorized"
    assert visitors.paths == []


async def test_a_plain_http_request_is_told_that_this_is_a_websocket(port: int) -> None:
    async with dialled(port) as outsider:
        outsider.writer.write(f"GET /control HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
        assert b" 426 " in (await outsider.end()).partition(b"\r\n")[0]


@pytest.mark.parametrize("follows", [b"\x81\x80mask", b"\x88\x80mask", b"nonsense"])
async def test_frames_before_the_answer_are_not_waited_for(port: int, visitors: Visitors, follows: bytes) -> None:
    async with dialled(port) as outsider:
        outsider.writer.write(upgrade_request(f"Authorization: Bearer {TOKEN}") + follows)
        assert await outsider.end() == b""
    assert visitors.paths == []


async def test_what_is_no_request_is_hung_up_on(port: int) -> None:
    async with dialled(port) as outsider:
        outsider.writer.write(b"EHLO there\r\n")
        assert await outsider.end() == b""


def test_a_connection_that_asks_for_nothing_is_hung_up_on_after_a_while(visitors: Visitors) -> None:
    async def scenario() -> None:
        async with serve("127.0.0.1", 0, TOKEN, visitors) as port, dialled(port) as outsider:
            outsider.writer.write(upgrade_request()[:-2])
            assert await within(outsider.reader.read(), 60) == b""
            assert 9 < now() < 11

    in_virtual_time(scenario())


async def test_strangers_who_ask_for_nothing_are_few_at_a_time(
    port: int, visitors: Visitors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_MAX_UPGRADES", 10)
    monkeypatch.setattr(server, "_UPGRADE_TIMEOUT_SECONDS", 3600.0)
    async with AsyncExitStack() as stack:
        strangers = [await asyncio.open_connection("127.0.0.1", port) for _ in range(15)]
        for _, writer in strangers:
            stack.callback(writer.close)
        for reader, _ in strangers[10:]:
            assert await within(_hung_up(reader))
    transport = await within(_connected_soon(port))
    assert visitors.paths == ["/control"]
    transport.close()
    await within(transport.wait_closed())


async def _hung_up(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read(1) == b""
    except ConnectionError:
        return True


async def _connected_soon(port: int) -> WebSocketTransport:
    """Connects as soon as the server has noticed that the strangers left."""
    while True:
        try:
            return await connect(f"ws://127.0.0.1:{port}/control", TOKEN)
        except CannotConnect:
            await asyncio.sleep(0.01)


async def test_a_port_nobody_listens_at_is_reported() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        error = await refusal(f"ws://127.0.0.1:{reserved.getsockname()[1]}/control")
    assert error.code == "unreachable"
    assert "nothing answers there; check the address and that it runs" in error.message


async def test_a_host_that_does_not_exist_is_reported() -> None:
    error = await refusal("ws://nowhere.invalid/control")
    assert (error.code, "can't be resolved" in error.message) == ("unreachable", True)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "127.0.0.1:5400",
        "ws://",
        "ws://host:99999/",
        "ws://host:port/",
        "ws://host/a b",
        "ws://anna:secret@host/",
        f"ws://{'a' * 64}/",
    ],
)
async def test_an_address_that_is_none_is_refused_with_the_shape_of_one(url: str) -> None:
    error = await refusal(url)
    assert (error.code, "ws://host:port/path" in error.message) == ("invalid_argument", True)
    assert "secret" not in str(error)


@pytest.mark.parametrize("token", ["", "two words", "line\r\nbreak: 1", "schlüssel"])
async def test_a_token_that_no_header_can_hold_is_refused_on_both_sides(visitors: Visitors, token: str) -> None:
    error = await refusal("ws://127.0.0.1:1/", token)
    assert (error.code, "visible ASCII" in error.message) == ("invalid_argument", True)
    with pytest.raises(ValueError, match="visible ASCII"):
        async with serve("127.0.0.1", 0, token, visitors):
            pass


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "unauthorized", "forbids this connection (403)"),
        (b"HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n", "refused", "HTTP status 503"),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", "refused", "HTTP status 200"),
        (b"HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "refused", "is no WebSocket server"),
        (b"220 mail.example.org ESMTP\r\n", "refused", "is no WebSocket server"),
        (b"", "unreachable", "hung up without an answer"),
    ],
)
async def test_an_answer_that_opens_no_websocket_is_put_into_words(answer: bytes, code: str, words: str) -> None:
    async def give(outsider: Outsider) -> None:
        await outsider.request()
        outsider.writer.write(answer)
        outsider.writer.write_eof()

    async with outside_server(give) as port:
        error = await refusal(f"ws://127.0.0.1:{port}/control")
    assert (error.code, words in error.message) == (code, True)


async def test_a_server_that_never_answers_is_given_up_on_and_hung_up_on() -> None:
    hung_up: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def keep_quiet(outsider: Outsider) -> None:
        request = await outsider.request()
        assert await outsider.end() == b""
        hung_up.set_result(request)

    async with outside_server(keep_quiet) as port:
        with pytest.raises(CannotConnect, match=r"no answer came within 0\.05 seconds") as raised:
            await within(connect(f"ws://127.0.0.1:{port}/control", TOKEN, timeout=0.05))
        assert raised.value.code == "unreachable"
        assert b"Authorization: Bearer open-sesame" in await within(hung_up)


async def test_a_cancelled_attempt_hangs_up() -> None:
    asked, hung_up = asyncio.Event(), asyncio.Event()

    async def keep_quiet(outsider: Outsider) -> None:
        await outsider.request()
        asked.set()
        assert await outsider.end() == b""
        hung_up.set()

    async with outside_server(keep_quiet) as port:
        attempt = asyncio.create_task(connect(f"ws://127.0.0.1:{port}/control", TOKEN))
        await within(asked.wait())
        attempt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attempt
        await within(hung_up.wait())


async def test_frames_that_come_with_the_servers_answer_are_kept() -> None:
    async def greet_at_once(outsider: Outsider) -> None:
        await accept(outsider)
        outsider.send_text(b"first")
        outsider.send_text(b"second")

    async with outside_server(greet_at_once) as port:
        transport = await within(connect(f"ws://127.0.0.1:{port}/control", TOKEN))
        received: asyncio.Queue[bytes] = asyncio.Queue()
        transport.start(received.put_nowait, lambda _: None)
        assert [await within(received.get()) for _ in range(2)] == [b"first", b"second"]
    await within(transport.wait_closed())


async def test_a_server_that_lets_in_and_hangs_up_in_one_breath_is_heard_out() -> None:
    async def show_the_door(outsider: Outsider) -> None:
        await accept(outsider)
        outsider.send_text(b"one thing")
        outsider.send_close(4000, "no room")

    async with outside_server(show_the_door) as port:
        transport = await within(connect(f"ws://127.0.0.1:{port}/control", TOKEN))
        received: list[bytes] = []
        ended: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()
        transport.start(received.append, ended.set_result)
        assert "(4000: no room)" in str(await within(ended))
        assert received == [b"one thing"]
    await within(transport.wait_closed())


async def test_a_secure_address_needs_a_server_that_speaks_tls(port: int) -> None:
    async def complain(outsider: Outsider) -> None:
        outsider.writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    error = await refusal(f"wss://127.0.0.1:{port}/control")
    assert (error.code, "check host, port and ws or wss" in error.message) == ("unreachable", True)
    async with outside_server(complain) as complaining:
        error = await refusal(f"wss://127.0.0.1:{complaining}/control")
    assert (error.code, "use ws:// if it has no certificate" in error.message) == ("tls_failed", True)


async def test_a_certificate_nobody_vouches_for_is_not_trusted(visitors: Visitors) -> None:
    async with serve("127.0.0.1", 0, TOKEN, visitors, tls=server_tls()) as port:
        error = await refusal(f"wss://127.0.0.1:{port}/control")
        assert (error.code, "certificate isn't trusted" in error.message) == ("tls_failed", True)
        assert "check host, port and ws or wss" in (await refusal(f"ws://127.0.0.1:{port}/control")).message
    assert visitors.paths == []


async def test_calls_large_and_small_and_closing_work_over_tls() -> None:
    async def echo(data: str) -> str:
        return data

    trusting = ssl.create_default_context(cafile=CERTIFICATE)
    async with websocket(WireLimits(), WireLimits(), server_tls=server_tls(), client_tls=trusting) as (client, server):
        left, right = Peer(client, Handlers()), Peer(server, Handlers(echo=echo))
        left.start()
        right.start()
        answers = await within(asyncio.gather(*(left.call("echo", "x" * 10**size) for size in range(7))))
        assert [len(answer) for answer in answers] == [10**size for size in range(7)]
        right.close("enough")
        assert "other side closed" in await within(left.wait_closed())
        await within(asyncio.gather(client.wait_closed(), server.wait_closed()))


async def test_a_server_that_shuts_down_says_so_on_both_sides_and_is_done_soon() -> None:
    async def wait(data: None) -> None:
        await asyncio.Event().wait()

    accepted: asyncio.Queue[WebSocketTransport] = asyncio.Queue()
    serving = serve("127.0.0.1", 0, TOKEN, lambda _, transport: accepted.put_nowait(transport))
    async with serving as port:
        client = await connect(f"ws://127.0.0.1:{port}/control", TOKEN)
        server = await accepted.get()
        left, right = Peer(client, Handlers(wait=wait)), Peer(server, Handlers(wait=wait))
        left.start()
        right.start()
        calls = [asyncio.create_task(peer.call("wait")) for peer in (left, right)]
        await within(asyncio.gather(left.call("ping"), right.call("ping")))
        started = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - started < 1.0  # nobody was waited for in vain
    await within(server.wait_closed(), 0)  # but the goodbye was
    assert await within(right.wait_closed()) == "the server is shutting down"
    said = "the other side closed the connection: it is going away (1001: the server is shutting down)"
    assert await within(left.wait_closed()) == said
    outcomes = await within(asyncio.gather(*calls, return_exceptions=True))
    assert all(isinstance(outcome, ConnectionClosed) for outcome in outcomes)
    assert (await refusal(f"ws://127.0.0.1:{port}/control")).code == "unreachable"
    await within(client.wait_closed())
    await within(no_other_tasks())


async def test_who_is_still_asking_when_a_server_shuts_down_is_hung_up_on(visitors: Visitors) -> None:
    async with AsyncExitStack() as asking:
        async with serve("127.0.0.1", 0, TOKEN, visitors) as port:
            outsider = await asking.enter_async_context(dialled(port))
            outsider.writer.write(b"GET ")
            await settle()
        assert await outsider.end() == b""


async def test_neither_token_nor_frames_are_logged(port: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        transport = await connect(f"ws://127.0.0.1:{port}/control", TOKEN)
        transport.send(b"private matter")
        transport.close()
        await within(transport.wait_closed())
    assert TOKEN not in caplog.text
    assert "private matter" not in caplog.text


def test_a_plugins_process_does_not_load_the_library() -> None:
    code = "import sys, parlour_sdk.worker; sys.exit(any(name.startswith('websockets') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
