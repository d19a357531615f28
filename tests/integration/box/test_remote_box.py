"""Tests a Box elsewhere: `parlour box` on a socket, its token, skills that are sent to it, and lost connections."""

import asyncio
import json
import stat
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from parlour_sdk.wire import Peer, WireError
from parlour_sdk.wire.limits import DEFAULT_LIMITS
from parlour_sdk.wire.websocket import connect
from tests.support.commands import PARLOUR, clean_environment
from tests.support.harness import Host, Json, eventually, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN
from tests.support.starting import start


class BoxProcess:
    """`parlour box` on a folder. It can be stopped and started again at the same address."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self._environment = environment
        self.data = folder / "remote"
        self._output = folder / "box-output.txt"
        self._port = 0
        self.url = ""

    def start(self) -> None:
        command = [str(PARLOUR), "box", "--data", str(self.data), "--listen", f"127.0.0.1:{self._port}"]
        with self._output.open("wb") as output:
            self.process = start(command, clean_environment(self._environment), output, output)
        line = eventually(lambda: "token in" in (text := self._output.read_text()) and text, "the Box listens")
        self.url = line.splitlines()[0].removeprefix("The Box is at ")
        self._port = int(self.url.rpartition(":")[2])

    @property
    def token_file(self) -> Path:
        return self.data / "box" / "token"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


@pytest.fixture
def box(tmp_path: Path) -> Iterator[BoxProcess]:
    box = BoxProcess(tmp_path)
    box.start()
    yield box
    box.close()


@pytest.fixture
def host(tmp_path: Path, box: BoxProcess) -> Iterator[Host]:
    settings = {"PARLOUR__BOX__ENDPOINT": box.url, "PARLOUR__BOX__TOKEN_FILE": box.token_file}
    host = Host(tmp_path, **settings, PARLOUR__BOX__LOCAL__QUOTA="advisory")
    host.install(CALLING_PLUGIN)
    host.start()
    yield host
    host.close()


def run(host: Host, agent: str, command: str) -> Json:
    request = [["call_tool", {"tool_name": "box.exec", "parameters": {"command": command}}]]
    [outcome] = json.loads(texts(host.ask(agent, json.dumps(request), conversation_id="chat"))[0])
    found: Json = outcome
    return found


def test_commands_run_there_and_a_killed_box_is_connected_again(host: Host, box: BoxProcess) -> None:
    agent = host.agent(CALLER, box_policy={"tools": ["exec"]})
    assert run(host, agent, "echo kept > kept.txt; echo done")["content"][0]["text"] == "done\n"
    assert [path.name for path in (box.data / "box" / "workspaces").glob("*/*/kept.txt")] == ["kept.txt"]
    assert not (host.data / "box" / "workspaces").exists()

    below = psutil.Process(box.process.pid).children(recursive=True)
    box.kill()
    eventually(lambda: not any(each.is_running() and each.status() != "zombie" for each in below), "nothing is left")
    status = eventually(
        lambda: (now := host.http().get("/box/status").json())["status"] != "ready" and now, "it is lost"
    )
    assert status["status"] == "unavailable"
    box.start()
    eventually(lambda: host.http().get("/box/status").json()["status"] == "ready", "it is back", 90)
    assert run(host, agent, "cat kept.txt")["content"][0]["text"] == "kept\n"


def test_s1_token_is_required_and_kept_from_others(box: BoxProcess) -> None:
    assert stat.S_IMODE(box.token_file.stat().st_mode) == 0o600
    token = box.token_file.read_text().strip()
    assert token not in " ".join(psutil.Process(box.process.pid).cmdline())

    class Nothing:
        def dispatch(self, action: str, data: object) -> None:
            raise WireError("not_supported", "nothing is served here")

    async def attempt(path: str, given: str | None) -> str:
        try:
            transport = await connect(box.url + path, given, DEFAULT_LIMITS)
        except WireError as error:
            return error.code
        peer = Peer(transport, Nothing())  # type: ignore[arg-type]
        peer.start()
        try:
            await peer.call("box_exec", {}, 10)
        except WireError as error:
            return error.code
        finally:
            await peer.aclose()
        return "served"

    for path, given in (("/box", None), ("/box", "wrong"), ("/box", token[:-1]), ("/box", token + "x")):
        assert asyncio.run(attempt(path, given)) == "unauthorized", (path, given)
    assert asyncio.run(attempt("/other", token)) not in ("served", "not_ready")
    assert asyncio.run(attempt("/box", token)) == "not_ready"
    assert token not in (box.data.parent / "box-output.txt").read_text()


def test_second_host_is_refused_while_the_first_is_connected(host: Host, box: BoxProcess, tmp_path: Path) -> None:
    agent = host.agent(CALLER, box_policy={"tools": ["exec"]})
    run(host, agent, "true")
    folder = tmp_path / "second"
    folder.mkdir()
    second = Host(folder, PARLOUR__BOX__ENDPOINT=box.url, PARLOUR__BOX__TOKEN_FILE=box.token_file)
    second.start()
    try:
        status = second.http().get("/box/status").json()
        assert status["status"] == "unavailable"
        assert "another Host" in status["reason"]
        assert not run(host, agent, "true")["is_error"]
    finally:
        second.close()
