"""A runtime of its own as a Host sees it on the wire: greetings, versions, channels, slow readers, large frames."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from parlour.runtime.remote.contract import CONTROL, PROTOCOL, ROOM_BYTES, plugin_path
from parlour_sdk.wire import Limits, Peer, WireError
from parlour_sdk.wire.websocket import CannotConnect, WebSocketTransport, connect, serve

from .commands import parlour_here
from .harness import PUPPET_PLUGIN, ROOT, Host, eventually
from .standalone import Runtime

PUPPET_ID = "test/puppet-agent"
REQUEST = ROOT / "packages" / "sdk" / "tests" / "protocol" / "golden" / "agent_run_request.json"
LIMITS = Limits()
SECONDS = 20.0


class Nothing:
    def dispatch(self, action: str, data: Any) -> Any:
        raise WireError("not_supported", "this Host has nothing")


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    runtime = Runtime(tmp_path_factory.mktemp("wire"))
    assert parlour_here("plugin", "install", PUPPET_PLUGIN, "--data", runtime.data).returncode == 0
    yield runtime.start()
    runtime.close()


@asynccontextmanager
async def opened(runtime: Runtime, path: str) -> AsyncIterator[Peer]:
    limits = replace(LIMITS, frame_bytes=LIMITS.frame_bytes + ROOM_BYTES)
    peer = Peer(await connect(f"{runtime.url}{path}", runtime.token(), limits), Nothing(), limits)
    peer.start()
    try:
        yield peer
    finally:
        peer.close()


@asynccontextmanager
async def channel(runtime: Runtime, plugin_id: str = PUPPET_ID) -> AsyncIterator[Peer]:
    """The plugin's channel of a Host that does nothing else."""
    async with opened(runtime, CONTROL) as control, opened(runtime, plugin_path(plugin_id)) as peer:
        welcome = await entered(control)
        await peer.call("hello", {"session": welcome["session"]}, timeout=SECONDS)
        yield peer


async def entered(control: Peer, **fields: Any) -> Any:
    """As soon as the Host of the test before it is gone."""
    hello = {"protocol": PROTOCOL, "version": "0", "host": "by hand", **fields}
    return await control.call("hello", hello, timeout=SECONDS)


def saying(text: str) -> dict[str, Any]:
    request = json.loads(REQUEST.read_text())
    request["runner_name"] = "default"
    request["context"]["input"] = {"text": text}
    return dict(request)


async def results(peer: Peer, text: str) -> list[Any]:
    async with asyncio.timeout(SECONDS):
        return [part async for part in peer.stream("run_agent", saying(text))]


async def test_a_host_of_another_version_is_told_who_has_to_be_updated(runtime: Runtime) -> None:
    async with opened(runtime, CONTROL) as control:
        with pytest.raises(WireError, match="update Parlour where the plugin runtime runs"):
            await entered(control, protocol=PROTOCOL + 1)
        with pytest.raises(WireError, match="update Parlour where the Host runs"):
            await entered(control, protocol=PROTOCOL - 1)
        with pytest.raises(WireError, match="hello"):
            await control.call("watch", {})


async def test_a_runtime_of_another_version_is_refused_by_the_host_in_words(tmp_path: Path) -> None:
    class Newer:
        def dispatch(self, action: str, data: Any) -> Any:
            async def welcome() -> dict[str, Any]:
                return {"protocol": PROTOCOL + 1, "version": "9", "session": "s"}

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
            asked = await asyncio.to_thread(httpx.get, f"{host.address}/readyz")
            assert (asked.status_code, "update Parlour" in asked.text) == (503, True)
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
    async with opened(runtime, CONTROL) as control, opened(runtime, plugin_path(PUPPET_ID)) as peer:
        welcome = await entered(control)
        await peer.call("hello", {"session": welcome["session"]})
        endless = asyncio.ensure_future(results(peer, "sleep"))
        control.close()
        async with asyncio.timeout(SECONDS):
            await peer.wait_closed()
        with pytest.raises(WireError):
            await endless


async def test_a_reader_that_takes_nothing_of_one_run_gets_the_others_and_costs_no_memory(runtime: Runtime) -> None:
    async with channel(runtime) as peer:
        before = runtime.process.memory_info().rss
        unread = [peer.stream("run_agent", saying("flood 20000 2000")) for _ in range(5)]

        for number in range(20):
            [answer] = await results(peer, f"say {number}")
            assert answer["data"]["message"]["content"] == str(number)

        assert runtime.process.memory_info().rss - before < 30 * 1024 * 1024
        for stream in unread:
            stream.abort()
        [answer] = await results(peer, "say still there")
        assert answer["data"]["message"]["content"] == "still there"


async def test_a_whole_stream_comes_in_order(runtime: Runtime) -> None:
    async with channel(runtime) as peer:
        parts = await results(peer, "flood 3000")

    assert [part["sequence"] for part in parts] == list(range(1, 3002))


async def test_the_largest_frame_of_a_plugin_passes(runtime: Runtime) -> None:
    size = LIMITS.frame_bytes - 300
    async with channel(runtime) as peer:
        [delta, _] = await results(peer, f"flood 1 {size}")

    assert len(delta["data"]["chunk"]["content"]) == size


async def test_what_a_host_has_to_tell_may_hold_more_values_than_a_plugins_frame(runtime: Runtime) -> None:
    request = saying("say heard")
    request["context"]["config"] = {"vectors": [0] * (2 * LIMITS.max_elements)}
    async with channel(runtime) as peer, asyncio.timeout(SECONDS):
        [answer] = [part async for part in peer.stream("run_agent", request)]

    assert answer["data"]["message"]["content"] == "heard"


async def test_a_plugin_that_is_not_there_and_a_path_that_is_none_are_told(runtime: Runtime) -> None:
    async with channel(runtime, "test/nobody") as peer:
        with pytest.raises(WireError, match="test/nobody is not installed"):
            await results(peer, "say hello")
    for path in ("/", "/plugins/", "/plugins/one", "/plugins/a/b/c"):
        with pytest.raises(CannotConnect, match="404"):
            await connect(f"{runtime.url}{path}", runtime.token())


async def test_nobody_gets_in_without_a_token(runtime: Runtime) -> None:
    for token in (None, "guessed"):
        for path in (CONTROL, plugin_path(PUPPET_ID)):
            with pytest.raises(CannotConnect) as refused:
                await connect(f"{runtime.url}{path}", token)
            assert refused.value.code == "unauthorized"


async def test_somebody_who_speaks_no_websocket_harms_nobody(runtime: Runtime) -> None:
    host, _, port = runtime.url.removeprefix("ws://").rpartition(":")
    with socket.create_connection((host, int(port))) as stranger:
        stranger.sendall(b"\x00\xff" * 10_000)
        async with channel(runtime) as peer:
            assert len(await results(peer, "say hello")) == 1
