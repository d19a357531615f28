"""Tests a standalone runtime as a Host sees it on the wire: greetings, versions, channels, slow
readers, large frames.
"""

import asyncio
import base64
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import InvalidStatus

from parlour.plugin_runtime.remote.messages import (
    CONTROL_PATH,
    FRAME_GROWTH_BYTES,
    RUNTIME_PROTOCOL_VERSION,
    plugin_path,
)
from parlour_sdk.wire import Peer, WireError, WireLimits
from parlour_sdk.wire.websocket import CannotConnect, WebSocketTransport, connect, serve
from tests.support.commands import parlour_here
from tests.support.harness import PUPPET_PLUGIN, ROOT, Host, eventually
from tests.support.standalone import Runtime

PUPPET_ID = "test/puppet-agent"
REQUEST = ROOT / "packages" / "sdk" / "tests" / "protocol" / "golden" / "agent_run_request.json"
LIMITS = WireLimits()
SECONDS = 20.0


class NoActions:
    def dispatch(self, action: str, data: Any) -> Any:
        raise WireError("not_supported", "this Host has nothing")


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    runtime = Runtime(tmp_path_factory.mktemp("wire"))
    assert parlour_here("plugin", "install", PUPPET_PLUGIN, "--data", runtime.data).returncode == 0
    yield runtime.start()
    runtime.close()


@cache
def shared_token(runtime: Runtime) -> str:
    """Returns one token for all connections of a Host, because a session belongs to its token."""
    return runtime.token()


@asynccontextmanager
async def opened(runtime: Runtime, path: str, token: str = "") -> AsyncIterator[Peer]:
    limits = replace(LIMITS, frame_bytes=LIMITS.frame_bytes + FRAME_GROWTH_BYTES)
    admitted = await connect(f"{runtime.url}{path}", token or shared_token(runtime), limits)
    peer = Peer(admitted, NoActions(), limits)
    peer.start()
    try:
        yield peer
    finally:
        peer.close()


@asynccontextmanager
async def channel(runtime: Runtime, plugin_id: str = PUPPET_ID) -> AsyncIterator[Peer]:
    """Opens the plugin's channel of a Host that does nothing else."""
    async with opened(runtime, CONTROL_PATH) as control, opened(runtime, plugin_path(plugin_id)) as peer:
        welcome = await greet(control)
        await peer.call("hello", {"session": welcome["session"]}, timeout=SECONDS)
        yield peer


async def greet(control: Peer, **fields: Any) -> Any:
    """Greets the runtime and waits until the Host of the previous test has disconnected."""
    hello = {"protocol": RUNTIME_PROTOCOL_VERSION, "version": "0", "host": "by hand", **fields}
    return await control.call("hello", hello, timeout=SECONDS)


def run_request(text: str) -> dict[str, Any]:
    request = json.loads(REQUEST.read_text())
    request["runner_name"] = "default"
    request["context"]["input"] = {"text": text}
    return dict(request)


async def results(peer: Peer, text: str) -> list[Any]:
    async with asyncio.timeout(SECONDS):
        return [part async for part in peer.stream("run_agent", run_request(text))]


async def test_a_version_mismatch_names_the_side_to_update(runtime: Runtime) -> None:
    async with opened(runtime, CONTROL_PATH) as control:
        with pytest.raises(WireError, match="update Parlour where the plugin runtime runs"):
            await greet(control, protocol=RUNTIME_PROTOCOL_VERSION + 1)
        with pytest.raises(WireError, match="update Parlour where the Host runs"):
            await greet(control, protocol=RUNTIME_PROTOCOL_VERSION - 1)
        with pytest.raises(WireError, match="hello"):
            await control.call("watch", {})


async def test_a_runtime_of_another_version_is_refused_by_the_host_with_a_reason(tmp_path: Path) -> None:
    class Newer:
        def dispatch(self, action: str, data: Any) -> Any:
            async def welcome() -> dict[str, Any]:
                return {"protocol": RUNTIME_PROTOCOL_VERSION + 1, "version": "9", "session": "s"}

            return welcome()

    peers: list[Peer] = []

    def connected(path: str, transport: WebSocketTransport) -> None:
        peers.append(Peer(transport, Newer()))
        peers[-1].start()

    async with serve("127.0.0.1", 0, "secret", connected) as port:
        url = f"ws://127.0.0.1:{port}"
        host = Host(tmp_path, PARLOUR__RUNTIME__URL=url, PARLOUR__RUNTIME__TOKEN="secret")
        host.begin()
        try:
            await asyncio.to_thread(
                eventually, lambda: "update Parlour where the Host runs" in host.log(), "the Host says why", 60
            )
            [line, *_] = await asyncio.to_thread(eventually, host.printed, "the Host prints its address", 60)
            host.address = line.removeprefix("Parlour is at ")
            response = await asyncio.to_thread(httpx.get, f"{host.address}/readyz")
            assert (response.status_code, "update Parlour" in response.text) == (503, True)
        finally:
            await asyncio.to_thread(host.close)


@pytest.mark.parametrize("session", ["", "guessed"])
async def test_a_channel_belongs_to_a_session(runtime: Runtime, session: str) -> None:
    async with opened(runtime, plugin_path(PUPPET_ID)) as peer:
        with pytest.raises(WireError, match="hello"):
            await peer.call("list_agent_runners", {})
        with pytest.raises(WireError, match="session"):
            await peer.call("hello", {"session": session})
        with pytest.raises(WireError, match="hello"):
            await results(peer, "say hello")


async def test_a_channel_ends_with_its_control_connection(runtime: Runtime) -> None:
    async with opened(runtime, CONTROL_PATH) as control, opened(runtime, plugin_path(PUPPET_ID)) as peer:
        welcome = await greet(control)
        await peer.call("hello", {"session": welcome["session"]})
        endless = asyncio.ensure_future(results(peer, "sleep"))
        control.close()
        async with asyncio.timeout(SECONDS):
            await peer.wait_closed()
        with pytest.raises(WireError):
            await endless


async def test_a_reader_that_does_not_read_one_run_gets_the_other_runs_and_costs_no_memory(runtime: Runtime) -> None:
    async with channel(runtime) as peer:
        before = runtime.process.memory_info().rss
        unread = [peer.stream("run_agent", run_request("flood 20000 2000")) for _ in range(5)]

        for number in range(20):
            [answer] = await results(peer, f"say {number}")
            assert answer["data"]["message"]["content"] == str(number)

        assert runtime.process.memory_info().rss - before < 30 * 1024 * 1024
        for stream in unread:
            stream.abort()
        [answer] = await results(peer, "say still there")
        assert answer["data"]["message"]["content"] == "still there"


async def test_a_whole_stream_arrives_in_order(runtime: Runtime) -> None:
    async with channel(runtime) as peer:
        parts = await results(peer, "flood 3000")

    assert [part["sequence"] for part in parts] == list(range(1, 3002))


async def test_the_largest_frame_of_a_plugin_passes(runtime: Runtime) -> None:
    size = LIMITS.frame_bytes - 300
    async with channel(runtime) as peer:
        [delta, _] = await results(peer, f"flood 1 {size}")

    assert len(delta["data"]["chunk"]["content"]) == size


async def test_a_request_of_the_host_may_hold_more_values_than_a_plugins_frame(runtime: Runtime) -> None:
    request = run_request("say heard")
    request["context"]["config"] = {"vectors": [0] * (2 * LIMITS.max_elements)}
    async with channel(runtime) as peer, asyncio.timeout(SECONDS):
        [answer] = [part async for part in peer.stream("run_agent", request)]

    assert answer["data"]["message"]["content"] == "heard"


async def test_a_missing_plugin_and_an_unknown_path_are_reported(runtime: Runtime) -> None:
    async with channel(runtime, "test/nobody") as peer:
        with pytest.raises(WireError, match="test/nobody is not installed"):
            await results(peer, "say hello")
    for path in ("/", "/plugins/", "/plugins/one", "/plugins/a/b/c"):
        with pytest.raises(CannotConnect, match="404"):
            await connect(f"{runtime.url}{path}", runtime.token())


async def test_a_connection_without_a_valid_token_is_refused(runtime: Runtime) -> None:
    for token in (None, "guessed"):
        for path in (CONTROL_PATH, plugin_path(PUPPET_ID)):
            with pytest.raises(CannotConnect) as refused:
                await connect(f"{runtime.url}{path}", token)
            assert refused.value.code == "unauthorized"


async def test_a_client_without_a_websocket_handshake_does_not_disturb_other_clients(runtime: Runtime) -> None:
    host, _, port = runtime.url.removeprefix("ws://").rpartition(":")
    with socket.create_connection((host, int(port))) as stranger:
        stranger.sendall(b"\x00\xff" * 10_000)
        async with channel(runtime) as peer:
            assert len(await results(peer, "say hello")) == 1


def revoke(runtime: Runtime, name: str) -> None:
    listed = parlour_here("runtime", "token", "list", "--data", runtime.data).stdout.splitlines()
    [token_id] = [line.split()[0] for line in listed if line.endswith(f" {name}")]
    assert parlour_here("runtime", "token", "revoke", token_id, "--data", runtime.data).returncode == 0


async def test_a_session_belongs_to_its_token_and_not_to_a_host_name(runtime: Runtime) -> None:
    async with (
        opened(runtime, CONTROL_PATH) as control,
        opened(runtime, CONTROL_PATH, runtime.token("another")) as thief,
    ):
        welcome = await greet(control)
        with pytest.raises(WireError) as refused:
            await greet(thief)
        assert refused.value.code == "in_use"
        assert await control.call("upload", {})
        async with opened(runtime, plugin_path(PUPPET_ID), runtime.token("a third")) as peer:
            with pytest.raises(WireError, match="with the same token"):
                await peer.call("hello", {"session": welcome["session"]})


async def test_a_restarted_host_replaces_its_own_earlier_connection(runtime: Runtime) -> None:
    async with opened(runtime, CONTROL_PATH) as before, opened(runtime, CONTROL_PATH) as after:
        await greet(before)
        await greet(after, host="another start")
        async with asyncio.timeout(SECONDS):
            await before.wait_closed()
        assert await after.call("upload", {})


@pytest.mark.parametrize("signalled", [True, False])
async def test_a_revoked_token_is_refused_on_all_its_open_connections(runtime: Runtime, signalled: bool) -> None:
    name = f"to be revoked {signalled}"
    token = runtime.token(name)
    async with (
        opened(runtime, CONTROL_PATH, token) as control,
        opened(runtime, plugin_path(PUPPET_ID), token) as peer,
        opened(runtime, CONTROL_PATH, token) as silent,
        opened(runtime, CONTROL_PATH) as other,
    ):
        welcome = await greet(control)
        await peer.call("hello", {"session": welcome["session"]})
        endless = asyncio.ensure_future(results(peer, "sleep"))
        if signalled:
            await asyncio.to_thread(revoke, runtime, name)
        else:  # by a command that does not know the process, as in another container
            file = runtime.data / "runtime-tokens.json"
            tokens = [
                each | {"revoked_at": 1} if each["name"] == name else each for each in json.loads(file.read_text())
            ]
            file.write_text(json.dumps(tokens))
            with pytest.raises(WireError, match="revoked"):
                await greet(silent)
        async with asyncio.timeout(SECONDS):
            for each in (control, peer):
                assert "revoked" in await each.wait_closed()
            await silent.wait_closed()
        with pytest.raises(WireError):
            await endless
        assert (await greet(other))["session"]


async def test_malformed_greetings_are_refused_with_a_reason(runtime: Runtime) -> None:
    wrong: list[tuple[Any, str]] = [
        (None, "data:"),
        ([], "data:"),
        ({}, "protocol:"),
        ({"protocol": "one", "version": "0", "host": "h"}, "protocol:"),
        ({"protocol": 10**30, "version": "0", "host": "h"}, "protocol:"),
        ({"protocol": RUNTIME_PROTOCOL_VERSION, "version": 7, "host": "h"}, "version:"),
        ({"protocol": RUNTIME_PROTOCOL_VERSION, "version": "0", "host": "h" * 10_000}, "host:"),
    ]
    async with opened(runtime, CONTROL_PATH) as control:
        for hello, field in wrong:
            with pytest.raises(WireError, match=f"^.*{field}") as refused:
                await control.call("hello", hello, timeout=SECONDS)
            assert refused.value.code == "invalid_argument"
        await greet(control)
        with pytest.raises(WireError, match="before"):
            await greet(control)
        for session in (None, 7, {}, "x" * 10_000, "café", "\ud7ff"):
            async with opened(runtime, plugin_path(PUPPET_ID)) as peer:
                with pytest.raises(WireError, match="session:") as refused:
                    await peer.call("hello", {"session": session}, timeout=SECONDS)
                assert refused.value.code in ("invalid_argument", "unauthorized")
        assert await control.call("upload", {})


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ("", "must be JSON"),
        ("7", "must be a JSON object"),
        ('{"id": 1, "action": "hello"}', "seq_id must be"),
        ("[" * 200_000 + "]" * 200_000, "malformed frame"),
    ],
    ids=["empty", "number", "no seq_id", "deep"],
)
async def test_a_frame_that_can_not_be_answered_closes_the_connection_with_a_reason(
    runtime: Runtime, frame: str, expected: str
) -> None:
    headers = {"Authorization": f"Bearer {shared_token(runtime)}"}
    async with open_websocket(f"{runtime.url}{CONTROL_PATH}", additional_headers=headers, proxy=None) as socket:
        await socket.send(frame)
        async with asyncio.timeout(SECONDS):
            await socket.wait_closed()
    assert socket.close_code == 1008
    assert expected in str(socket.close_reason)


async def test_uploads_are_limited_in_number_and_bytes(tmp_path: Path) -> None:
    small = {"PARLOUR__PLUGINS__PACKAGE_BYTES": 100_000, "PARLOUR__PLUGINS__PACKAGE_FILES": 1}
    runtime = Runtime(tmp_path, **small).start()
    try:
        async with opened(runtime, CONTROL_PATH) as control:
            await greet(control)
            names = [(await control.call("upload", {}))["upload"] for _ in range(4)]
            with pytest.raises(WireError, match="4 uploads are open") as refused:
                await control.call("upload", {})
            assert refused.value.code == "rate_limited"
            part = base64.b64encode(b"x" * 60_000).decode()
            await control.call("upload_part", {"upload": names[0], "data": part})
            with pytest.raises(WireError, match="all open uploads") as refused:
                await control.call("upload_part", {"upload": names[1], "data": part})
            assert refused.value.code == "payload_too_large"
            assert await control.call("upload", {})  # the one that was too large is gone
            sizes = [file.stat().st_size for file in runtime.data.rglob("*.zip")]
            assert sum(sizes) == 60_000
    finally:
        runtime.close()


async def test_a_web_page_is_refused_even_with_a_token(runtime: Runtime) -> None:
    headers = {"Authorization": f"Bearer {shared_token(runtime)}", "Origin": "https://evil.example"}
    with pytest.raises(InvalidStatus) as refused:
        async with open_websocket(f"{runtime.url}{CONTROL_PATH}", additional_headers=headers, proxy=None):
            pass
    assert refused.value.response.status_code == 403
