"""Tests an agent whose commands run in sandboxes of E2B: a real Host, a real Box with the library, and a simulator.

The Box is one elsewhere (`parlour box`), since the library is not among the packages of the project.
"""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlour.testing.e2b_simulator import E2bSimulator
from tests.support.harness import ROOT, Host, eventually, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

from .test_remote_box import BoxProcess

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
KEY = "e2b_0123456789abcdef0123456789abcdef"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[E2bSimulator]:
    """The simulator, on a loop in a thread of its own."""
    simulator, ready, loop = E2bSimulator(tmp_path / "service", KEY), threading.Event(), asyncio.new_event_loop()
    stopping = asyncio.Event()

    async def serve() -> None:
        async with simulator.serving():
            ready.set()
            await stopping.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait(30)
    yield simulator
    loop.call_soon_threadsafe(stopping.set)
    thread.join()
    loop.close()


@pytest.fixture
def box(tmp_path: Path) -> Iterator[BoxProcess]:
    [library] = (ROOT / ".tools" / "peers" / "e2b").glob("lib/python*/site-packages")
    box = BoxProcess(tmp_path, PYTHONPATH=str(library))
    box.start()
    yield box
    box.close()


@pytest.fixture
def host(tmp_path: Path, service: E2bSimulator, box: BoxProcess) -> Iterator[Host]:
    host = Host(
        tmp_path,
        PARLOUR__BOX__ENDPOINT=box.url,
        PARLOUR__BOX__TOKEN_FILE=box.token_file,
        PARLOUR__BOX__BACKEND="e2b",
        PARLOUR__BOX__E2B__API_KEY=KEY,
        PARLOUR__BOX__E2B__API_URL=service.address,
        PARLOUR__BOX__E2B__SANDBOX_URL=service.address,
    )
    host.install(CALLING_PLUGIN)
    host.start()
    yield host
    host.close()


def test_files_of_a_chat_are_kept_between_sandboxes_of_the_service(
    host: Host, box: BoxProcess, service: E2bSimulator
) -> None:
    agent = host.agent(CALLER, box_policy={"tools": ["exec", "write", "read"]})

    def run(name: str, **parameters: object) -> str:
        call = [["call_tool", {"tool_name": f"box.{name}", "parameters": parameters}]]
        [outcome] = json.loads(texts(host.ask(agent, json.dumps(call), conversation_id="chat"))[0])
        return str(outcome["content"][0]["text"])

    status = host.http().get("/box/status").json()
    assert (status["status"], status["backend"], status["quota"]) == ("ready", "e2b", "remote"), status
    assert run("write", path="hello.py", content="print('from there')\n") == "Wrote 20 bytes to hello.py."
    assert run("exec", command="python3 hello.py; hostname > where") == "from there\n"
    [sandbox] = service.sandboxes.values()
    assert (sandbox.folder / "workspace" / "hello.py").exists()
    [session] = host.items("/box/sessions")
    assert host.http().delete(f"/box/sessions/{session['session_id']}").status_code == 204
    assert service.sandboxes == {}, "nothing is left at the service"
    assert run("read", path="hello.py") == "print('from there')\n"
    assert len(service.sandboxes) == 1
    box.kill()
    box.start()
    eventually(lambda: host.http().get("/box/status").json()["status"] == "ready", "the Box is connected again", 60)
    assert run("exec", command="cat hello.py") == "print('from there')\n"
    assert len(service.sandboxes) == 1, "the sandbox of the killed Box was removed"
    assert KEY not in host.log()
