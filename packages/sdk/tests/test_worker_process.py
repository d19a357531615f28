"""Tests the worker as a process that is connected to a Host by pipes or a WebSocket."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from parlour.plugin_runtime.supervision.connection import PluginDispatcher
from parlour_sdk.protocol.base import PROTOCOL_VERSION
from parlour_sdk.wire import Peer, StdioTransport, WireError
from parlour_sdk.wire.websocket import serve
from parlour_sdk.worker import CANNOT_SERVE_STATUS

SECONDS = 20.0
WELCOME = {"protocol": PROTOCOL_VERSION, "host": "parlour", "host_version": "1"}
HELLO = """\
import os
import sys
from parlour_sdk import Plugin, command, on, plugin, results, runner, tool

plugin("acme/hello", version="0.1.0")


@runner
async def default(ctx, api):
    print("this goes to the log")
    if ctx.input.text == "leave":
        sys.exit("goodbye")
    if ctx.input.text == "host":
        yield results.completed((await api.host.version()).version)
    yield results.completed(f"{ctx.input.text} {os.environ.get('PARLOUR_TOKEN')} {sys.stdin.read()!r}")


@tool
async def fail() -> str:
    '''Fails.'''
    raise RuntimeError("the secret is 12345")


@on("message.received")
async def hear(event, ctx):
    raise RuntimeError("deaf")


@tool
async def leave() -> str:
    '''Wants to end everything.'''
    sys.exit("goodbye")


@on("message.received")
async def depart(event, ctx):
    sys.exit("goodbye")


@command("depart")
async def depart_by_command(ctx):
    sys.exit("goodbye")
"""


class Host:
    """Answers `hello` as the test sets, and a few other actions."""

    def __init__(self, welcome: Any = WELCOME) -> None:
        self.welcome = welcome
        self.hello: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    def dispatch(self, action: str, data: Any) -> Any:
        return self._answer(action, data)

    async def _answer(self, action: str, data: Any) -> Any:
        if action == "get_host_version":
            return {"version": "1.2", "protocol": 1}
        assert action == "hello"
        self.hello.set_result(data)
        if isinstance(self.welcome, Exception):
            raise self.welcome
        return self.welcome


class Worker:
    def __init__(self, process: asyncio.subprocess.Process, peer: Peer | None) -> None:
        self.process = process
        self._peer = peer

    @property
    def peer(self) -> Peer:
        assert self._peer is not None
        return self._peer

    async def run(self, text: str) -> list[Any]:
        return [result async for result in self.peer.stream("run_agent", request(text))]

    async def ended(self) -> tuple[int, str]:
        """Returns exit status and log of the process."""
        assert self.process.stderr is not None
        async with asyncio.timeout(SECONDS):
            log = (await self.process.stderr.read()).decode()
            return await self.process.wait(), log


def request(text: str, **more: Any) -> dict[str, Any]:
    context = {
        "run_id": "run",
        "trigger": {"type": "message.received", "source": "api"},
        "event": {"event_id": "e", "event_type": "message.received", "source": "api"},
        "input": {"text": text},
        "delivery": {"surface": "api"},
        "resources": {},
        "context": {},
        "state": {},
        "runtime": {"trace_id": "run", "attempt": 1},
        **more,
    }
    return {"runner_id": "plugin:acme/hello/default", "runner_name": "default", "context": context}


@asynccontextmanager
async def working(
    path: Path, make: Callable[[], Any] = Host, code: str | None = None, **environment: str
) -> AsyncIterator[tuple[Worker, Any]]:
    """Starts a worker on pipes. `code` replaces the start of the worker in its process."""
    child_read, write_fd = os.pipe()
    read_fd, child_write = os.pipe()
    start = ["-m", "parlour_sdk.worker"] if code is None else ["-c", code]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *start, str(path)),
        stdin=child_read,
        stdout=child_write,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
    )
    os.close(child_read)
    os.close(child_write)
    host = make()
    peer = Peer(StdioTransport(read_fd, write_fd), host)
    peer.start()
    try:
        yield Worker(process, peer), host
    finally:
        peer.close()
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.fixture
def hello(tmp_path: Path) -> Path:
    file = tmp_path / "a place" / "hello.py"
    file.parent.mkdir()
    file.write_text(HELLO)
    return file


def change(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text().replace(old, new))


async def test_a_single_file_plugin_is_served(hello: Path) -> None:
    async with working(hello) as (worker, host), asyncio.timeout(SECONDS):
        assert (await host.hello)["plugin"] == "acme/hello"
        [runner] = (await worker.peer.call("list_agent_runners", {}))["runners"]
        assert runner["manifest"]["id"] == "plugin:acme/hello/default"
        texts = [each["data"]["message"]["content"] for each in await worker.run("host")]
        assert texts == ["1.2", "host None ''"]
        await worker.peer.call("shutdown", {})
        status, log = await worker.ended()
    assert status == 0
    assert "this goes to the log" in log


async def test_failing_components_do_not_end_the_process(hello: Path) -> None:
    event = {"type": "message.received", "event_id": "e", "timestamp": 1, "message_id": "m", "message_chain": []}
    chat = {"chat_type": "group", "chat_id": "g", "sender": {"id": "u"}}
    async with working(hello) as (worker, host), asyncio.timeout(SECONDS):
        await host.hello
        for _ in range(2):
            for tool in ("fail", "leave"):
                assert (await worker.peer.call("call_tool", {"tool_name": tool}))["is_error"]
            assert (await worker.peer.call("emit_event", {"event": {**event, **chat}}))["failed"] == ["hear", "depart"]
            with pytest.raises(WireError, match="'depart' failed with SystemExit"):
                await anext(worker.peer.stream("run_command", {"command": "depart"}))
            assert [each["type"] for each in await worker.run("leave")] == ["run.failed"]
            with pytest.raises(WireError):
                await worker.peer.call("emit_event", {"event": "none"})
        assert len(await worker.run("still here")) == 1


async def test_the_token_reaches_the_host_and_not_the_plugins_code(hello: Path) -> None:
    async with working(hello, PARLOUR_TOKEN="t-0123456789abcdef") as (worker, host), asyncio.timeout(SECONDS):
        assert (await host.hello)["token"] == "t-0123456789abcdef"
        [result] = await worker.run("token")
    assert result["data"]["message"]["content"] == "token None ''"


async def test_a_plugin_that_the_host_refuses_ends_with_the_reason(hello: Path) -> None:
    refusal = WireError("unauthorized", "this connection belongs to plugin acme/other")
    async with working(hello, lambda: Host(refusal)) as (worker, _):
        status, log = await worker.ended()
    assert status == CANNOT_SERVE_STATUS
    assert log.splitlines()[-1].endswith("the Host refused this plugin: this connection belongs to plugin acme/other")
    assert "Traceback" not in log


async def test_a_plugin_ends_with_the_connection_to_its_host(hello: Path) -> None:
    async with working(hello) as (worker, host), asyncio.timeout(SECONDS):
        await host.hello
        await worker.peer.call("list_components")
        worker.peer.close()
        assert (await worker.ended())[0] == 0


SPEAKING = """\
import sys
from parlour_sdk.protocol import base
base.PROTOCOL_VERSION = {version}
from parlour_sdk import worker
worker.main()
"""


@pytest.mark.parametrize(("version", "side"), [(0, "the plugin's SDK"), (2, "Parlour")])
async def test_the_host_refuses_another_protocol_version_and_names_the_side_to_update(
    hello: Path, version: int, side: str
) -> None:
    def dispatcher() -> Any:
        return PluginDispatcher("acme/hello", None, "1")  # type: ignore[arg-type]

    async with working(hello, dispatcher, SPEAKING.format(version=version)) as (worker, _):
        status, log = await worker.ended()
    assert status == CANNOT_SERVE_STATUS
    assert f"the plugin speaks protocol {version} and this Host 1; update {side}" in log.splitlines()[-1]


@pytest.mark.parametrize(("version", "side"), [(0, "the Host"), (2, "parlour-sdk in the plugin's environment")])
async def test_the_plugin_refuses_another_protocol_version_and_names_the_side_to_update(
    hello: Path, version: int, side: str
) -> None:
    async with working(hello, lambda: Host({**WELCOME, "protocol": version})) as (worker, _):
        status, log = await worker.ended()
    assert status == CANNOT_SERVE_STATUS
    assert f"the Host speaks protocol {version} and this SDK 1; update {side}" in log.splitlines()[-1]


async def test_an_invalid_plugin_ends_with_the_message_of_its_validation(hello: Path) -> None:
    change(hello, "import os", "import no_such_module_at_all")
    async with working(hello) as (worker, _):
        status, log = await worker.ended()
    assert status == CANNOT_SERVE_STATUS
    assert log.splitlines()[-1].endswith(
        f"{hello}:1: there is no module 'no_such_module_at_all'; add it to requirements.txt or, if it is your own, "
        "to the folder"
    )
    assert "Traceback" in log


async def test_warnings_are_in_the_log(hello: Path) -> None:
    change(hello, 'version="0.1.0"', 'version="0.1.0", limits={"max_run": 1}')
    async with working(hello) as (worker, host), asyncio.timeout(SECONDS):
        await host.hello
        await worker.peer.call("shutdown", {})
        _, log = await worker.ended()
    assert "limits.max_run: an unknown key, passed over; did you mean max_runs?" in log


MAIN = """\
import asyncio
from pathlib import Path
from parlour_sdk import Plugin

HERE = Path(__file__).parent


class Main(Plugin):
    async def initialize(self, api):
        {initialize}

    async def close(self):
        (HERE / "closed").write_text("yes")
        {close}
"""


def main_plugin(folder: Path, initialize: str = "pass", close: str = "pass") -> Path:
    folder.mkdir()
    (folder / "manifest.yaml").write_text(
        "apiVersion: parlour/v1\nkind: Plugin\nmetadata: {author: acme, name: hello, version: '1'}\n"
        "execution: {python: {path: main.py, attr: Main}}\n"
    )
    (folder / "main.py").write_text(MAIN.format(initialize=initialize, close=close))
    return folder


async def test_the_main_class_is_initialized_first_and_closed_last(tmp_path: Path) -> None:
    folder = main_plugin(tmp_path / "p", "(HERE / 'begun').write_text((await api.host.version()).version)")
    async with working(folder) as (worker, host), asyncio.timeout(SECONDS):
        await host.hello
        await worker.peer.call("list_agent_runners", {})
        assert (folder / "begun").read_text() == "1.2"
        assert not (folder / "closed").exists()
        await worker.peer.call("shutdown", {})
        assert (await worker.ended())[0] == 0
    assert (folder / "closed").read_text() == "yes"


async def test_a_plugin_that_fails_to_initialize_ends_with_the_reason(tmp_path: Path) -> None:
    folder = main_plugin(tmp_path / "p", "raise RuntimeError('no database')")
    async with working(folder) as (worker, _):
        status, log = await worker.ended()
    assert status == CANNOT_SERVE_STATUS
    assert log.splitlines()[-1].endswith("the plugin's initialize() failed with RuntimeError: no database")
    assert not (folder / "closed").exists()


async def test_a_plugin_that_hangs_during_initialization_can_be_stopped(tmp_path: Path) -> None:
    folder = main_plugin(tmp_path / "p", "await asyncio.Event().wait()")
    async with working(folder) as (worker, host), asyncio.timeout(SECONDS):
        await host.hello
        await worker.peer.call("shutdown", {})
        assert (await worker.ended())[0] == 0
    assert not (folder / "closed").exists()


@pytest.mark.parametrize("close", ["raise RuntimeError('no')", "await asyncio.Event().wait()"])
async def test_a_plugin_ends_although_its_close_fails_or_hangs(tmp_path: Path, close: str) -> None:
    folder = main_plugin(tmp_path / "p", close=close)
    async with working(folder) as (worker, host), asyncio.timeout(SECONDS):
        await host.hello
        await worker.peer.call("shutdown", {})
        status, log = await worker.ended()
    assert status == 0
    assert "the plugin's close()" in log


TOKEN = "t-0123456789abcdef0123456789abcdef"


async def _connected(path: Path, url: str, token: str) -> Worker:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "parlour_sdk.worker", "--connect", url, str(path)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PARLOUR_TOKEN": token},
    )
    return Worker(process, None)


async def test_a_plugin_can_be_served_over_a_websocket(hello: Path) -> None:
    host = Host()
    peers: asyncio.Future[Peer] = asyncio.get_running_loop().create_future()

    def connected(path: str, transport: Any) -> None:
        peer = Peer(transport, host)
        peer.start()
        peers.set_result(peer)

    async with asyncio.timeout(SECONDS), serve("127.0.0.1", 0, TOKEN, connected) as port:
        worker = await _connected(hello, f"ws://127.0.0.1:{port}/plugins", TOKEN)
        peer = await peers
        assert (await host.hello)["token"] == TOKEN
        results = [each async for each in peer.stream("run_agent", request("far"))]
        assert results[0]["data"]["message"]["content"] == "far None ''"
        await peer.call("shutdown", {})
        status, _ = await worker.ended()
    assert status == 0


async def test_an_unreachable_host_is_named(hello: Path) -> None:
    worker = await _connected(hello, "ws://127.0.0.1:1/plugins", TOKEN)
    status, log = await worker.ended()
    assert status == CANNOT_SERVE_STATUS
    assert "can't connect to ws://127.0.0.1:1/plugins" in log.splitlines()[-1]


async def test_invalid_arguments_of_the_worker_are_refused(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "parlour_sdk.worker"), stderr=asyncio.subprocess.PIPE
    )
    status, log = await Worker(process, None).ended()
    assert status == 2
    assert "the following arguments are required: PLUGIN" in log
