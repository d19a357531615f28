"""Tests how much time, memory and connections a client without permissions can take of the Host."""

import asyncio
import json
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import psutil
import pytest

from tests.integration.conftest import MakeHost
from tests.support.chat import Chat
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_TLS, PUPPET, PUPPET_PLUGIN, Host, bearer, eventually, message
from tests.support.raw_http import RawClient

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
HANDSHAKE = (
    b"GET /hooks/bot/onebot/v11/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
SILENT_SECONDS = 0.5


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    settings = {"PARLOUR__HTTP__HEAD_SECONDS": SILENT_SECONDS, "PARLOUR__HTTP__SILENT_SECONDS": SILENT_SECONDS}
    host = Host(tmp_path_factory.mktemp("limits"), **settings)
    host.install(ECHO_PLUGIN)
    host.install(PUPPET_PLUGIN)
    try:
        host.start()
        yield host
    finally:
        host.close()


def metric(host: Host, name: str) -> int:
    """Returns a value of /metrics; 0 if it was never counted."""
    text = httpx.get(f"{host.address}/metrics", headers=bearer(host.key()), verify=NO_TLS).text
    found = re.search(rf"^{re.escape(name)} (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else 0


def refused(host: Host, reason: str) -> int:
    return metric(host, f'parlour_refused_connections_total{{reason="{reason}"}}')


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(HEAD + b"X-Much: " + b"a" * 66_000 + b"\r\n\r\n", id="one header"),
        pytest.param(HEAD + b"X-Much: " + b"a" * 1_000_000, id="one header without an end"),
        pytest.param(HEAD + b"".join(b"X-%d: %b\r\n" % (each, b"a" * 90) for each in range(700)) + b"\r\n", id="many"),
        pytest.param(b"GET /" + b"a" * 66_000 + b" HTTP/1.1\r\n\r\n", id="the path"),
    ],
)
def test_a_request_head_of_more_than_64_kib_is_refused_with_a_reason(impatient: Host, head: bytes) -> None:
    before = refused(impatient, "head_bytes")
    with RawClient(impatient) as client:
        client.send(head)
        status, body = client.answer()

    assert (status, body["error"]["code"]) == (431, "headers_too_large")
    assert "65536" in body["error"]["message"]
    assert refused(impatient, "head_bytes") == before + 1


def test_a_request_head_of_less_than_64_kib_is_answered(impatient: Host) -> None:
    with RawClient(impatient) as client:
        client.send(HEAD + b"X-Much: " + b"a" * 64_000 + b"\r\n\r\n")
        assert client.answer() == (200, {"status": "ok"})
        client.send(HEAD + b"\r\n")
        assert client.answer() == (200, {"status": "ok"})


@pytest.mark.parametrize("begun", [b"", HEAD, b"POST /api/v1/auth/login HTTP/1.1\r\nX-Slow: "])
def test_a_request_head_that_does_not_arrive_in_time_ends_the_connection(impatient: Host, begun: bytes) -> None:
    before = refused(impatient, "head_time")
    with RawClient(impatient) as client:
        client.send(begun)
        answer = client.rest(trickle=b"a" if begun else b"")

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"request_timeout"' in answer
    assert refused(impatient, "head_time") == before + 1


@pytest.mark.parametrize(
    ("handshake", "status"),
    [
        pytest.param(HANDSHAKE + b"Content-Length: 10\r\n\r\n", b"400", id="with a body"),
        pytest.param(HANDSHAKE + b"Transfer-Encoding: chunked\r\n\r\n", b"400", id="with chunks"),
        pytest.param(HANDSHAKE + b"X-Long: " + b"a" * 9000 + b"\r\n\r\n", b"431", id="a long header"),
        pytest.param(HANDSHAKE + b"X-Many: a\r\n" * 200 + b"\r\n", b"431", id="many headers"),
        pytest.param(HANDSHAKE + b"\r\n", b"404", id="no such bot"),
    ],
)
def test_an_invalid_handshake_is_answered_and_closed(impatient: Host, handshake: bytes, status: bytes) -> None:
    with RawClient(impatient) as client:
        client.send(handshake)
        assert client.rest().startswith(b"HTTP/1.1 " + status)
    assert "without completing handshake" not in impatient.log()


def test_an_answered_connection_is_not_kept_open_by_empty_lines(impatient: Host) -> None:
    with RawClient(impatient) as client:
        client.send(HEAD + b"\r\n")
        assert client.answer()[0] == 200
        client.rest(trickle=b"\r\n")


def test_an_announced_body_that_does_not_arrive_ends_the_connection(impatient: Host) -> None:
    before = refused(impatient, "silent")
    with RawClient(impatient) as client:
        client.send(
            b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b'Content-Length: 100\r\n\r\n{"email": '
        )
        assert client.rest().startswith(b"HTTP/1.1 408 ")

    assert refused(impatient, "silent") == before + 1


CHINESE = b"Accept-Language: zh-CN,zh;q=0.9,en;q=0.8\r\n"
PARTIAL = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\n" + CHINESE


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        pytest.param(PARTIAL + b"Content-Length: 9\r\n\r\n{", 408, "请求正文未及时到达；请重新发送", id="body"),
        pytest.param(PARTIAL + b"X-Slow: ", 408, "请求头未及时到达；请重新发送", id="head"),
        pytest.param(PARTIAL + b"X-Much: " + b"a" * 66_000 + b"\r\n\r\n", 431, "请求头最多 65536 字节", id="size"),
    ],
)
def test_a_refusal_has_the_language_of_the_received_headers(
    impatient: Host, sent: bytes, status: int, message: str
) -> None:
    with RawClient(impatient) as client:
        client.send(sent)
        answer = client.rest()

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"content-language: zh-Hans" in head
    assert json.loads(body)["error"]["message"] == message


def test_a_refusal_does_not_have_the_language_of_the_previous_request(impatient: Host) -> None:
    with RawClient(impatient) as client:
        client.send(HEAD + CHINESE + b"\r\n")
        assert client.answer()[0] == 200
        client.send(HEAD + b"X-Slow: ")
        status, body = client.answer()

    english = "the head of the request did not come in time; send it again"
    assert (status, body["error"]["message"]) == (408, english)


def test_a_client_that_does_not_read_its_answer_is_cut_off(impatient: Host) -> None:
    uploaded = impatient.http().post("/files", files={"file": ("big.bin", b"x" * 20_000_000)})
    assert uploaded.status_code == 201, uploaded.text
    before = refused(impatient, "silent")
    with RawClient(impatient, receive_buffer=4096) as client:
        path = f"/api/v1/artifacts/{uploaded.json()['artifact_id']}/content"
        client.get(path, f"Authorization: Bearer {impatient.key()}")

        eventually(lambda: refused(impatient, "silent") == before + 1, "the client is cut off")


async def test_chats_and_slow_answers_are_not_closed_as_silent(impatient: Host, tmp_path: Path) -> None:
    gate = impatient.shared_file(f"{tmp_path.name}.gate")
    agent, puppet = impatient.agent(ECHO), impatient.agent(PUPPET)
    async with Chat(impatient, agent) as chat, impatient.async_http() as http:
        waiting = asyncio.create_task(http.post("/events?wait=result", json=message(puppet, f"gate {gate}")))
        await asyncio.to_thread(impatient.active_run, puppet)
        for _ in range(3):  # a later silent connection is cut, so time has passed
            with RawClient(impatient) as client:
                await asyncio.to_thread(client.rest)
        await chat.send(type="ping")
        assert (await chat.frame())["type"] == "pong"
        gate.touch()
        assert (await waiting).status_code == 200


def test_a_connection_beyond_the_limit_is_refused_until_one_ends(make_host: MakeHost) -> None:
    host = make_host(PARLOUR__HTTP__CONNECTIONS=16, PARLOUR__HTTP__HEAD_SECONDS=60).start()
    key = host.key()
    assert metric(host, "parlour_connections") == 1
    with ExitStack() as opened:
        clients = [opened.enter_context(RawClient(host)) for _ in range(16)]
        for client in clients:
            client.send(HEAD)
        with RawClient(host) as late:
            answer = late.rest()
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b'"too_many_connections"' in answer
        clients[0].send(b"Connection: close\r\n\r\n")
        assert clients[0].rest().startswith(b"HTTP/1.1 200 ")

        eventually(lambda: httpx.get(f"{host.address}/healthz", verify=NO_TLS).status_code == 200, "there is room")
        for client in clients[1:]:
            client.send(b"\r\n")
            assert client.answer()[0] == 200
    assert eventually(lambda: metric(host, "parlour_connections") == 1, "all are gone")
    assert refused(host, "total") >= 1
    assert key not in host.log()


def test_sockets_count_as_connections_until_they_end(make_host: MakeHost) -> None:
    host = make_host(ECHO_PLUGIN).start()
    agent = host.agent(ECHO)

    async def talk() -> int:
        async with Chat(host, agent), Chat(host, agent):
            return await asyncio.to_thread(metric, host, "parlour_connections")

    before = metric(host, "parlour_connections")
    assert asyncio.run(talk()) == before + 2
    eventually(lambda: metric(host, "parlour_connections") == before, "the sockets have ended")


def test_one_address_has_a_limit_of_its_own_and_this_machine_has_none(make_host: MakeHost) -> None:
    host = make_host(PARLOUR__HTTP__HOST="0.0.0.0", PARLOUR__HTTP__CONNECTIONS_PER_ADDRESS=3).start()
    address = own_address()
    with ExitStack() as opened:
        for _ in range(3):
            opened.enter_context(RawClient(host, address)).send(HEAD)
        with RawClient(host, address) as late:
            answer = late.rest()
        local = [opened.enter_context(RawClient(host)) for _ in range(10)]
        for client in local:
            client.send(HEAD + b"\r\n")
        assert [client.answer()[0] for client in local] == [200] * 10

    assert answer.startswith(b"HTTP/1.1 429 ")
    assert b'"rate_limited"' in answer
    assert refused(host, "address") == 1


def test_behind_a_trusted_proxy_the_forwarded_address_counts_by_request(make_host: MakeHost, tmp_path: Path) -> None:
    settings = {"PARLOUR__HTTP__TRUSTED_PROXIES": "127.0.0.1", "PARLOUR__HTTP__CONNECTIONS_PER_ADDRESS": 2}
    host = make_host(PUPPET_PLUGIN, **settings).start()
    gate = host.shared_file(f"{tmp_path.name}.gate")
    puppet = host.agent(PUPPET)

    async def asked() -> list[int]:
        async with host.async_http() as http:
            busy, other = {"X-Forwarded-For": "203.0.113.9"}, {"X-Forwarded-For": "203.0.113.10"}
            waiting = [
                asyncio.create_task(
                    http.post("/events?wait=result", json=message(puppet, f"gate {gate}"), headers=busy)
                )
                for _ in range(2)
            ]
            await asyncio.to_thread(eventually, lambda: len(host.items("/runs", agent_id=puppet)) == 2, "two runs")
            answers = [(await http.get("/agents", headers=headers)).status_code for headers in (busy, other, {})]
            refusal = await http.get("/agents", headers={**busy, "Accept-Language": "zh-CN"})
            assert refusal.json()["error"]["message"] == "此地址已有 2 个进行中的请求；请等待其中一个结束"
            gate.touch()
            answers += [(await each).status_code for each in waiting]
            return [*answers, (await http.get("/agents", headers=busy)).status_code]

    assert asyncio.run(asked()) == [429, 200, 200, 200, 200, 200]
    assert refused(host, "address") == 2


def own_address() -> str:
    """Returns an address of this machine that is not loopback."""
    found = [
        each.address
        for addresses in psutil.net_if_addrs().values()
        for each in addresses
        if each.family == socket.AF_INET and not each.address.startswith("127.")
    ]
    assert found, "this test needs a network address beside loopback"
    return found[0]
