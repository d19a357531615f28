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
from tests.support.harness import ROOT, Host, eventually, message, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN
from tests.support.scripted_models import LOCAL, LOCAL_PLUGIN, MAIN, ScriptedModelsHost, calls
from tests.support.skills import document, zipped
from tests.support.wheels import package_index, write_index, write_wheel

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


def settings(service: E2bSimulator, box: BoxProcess) -> dict[str, object]:
    return {
        "PARLOUR__BOX__ENDPOINT": box.url,
        "PARLOUR__BOX__TOKEN_FILE": box.token_file,
        "PARLOUR__BOX__BACKEND": "e2b",
        "PARLOUR__BOX__E2B__API_KEY": KEY,
        "PARLOUR__BOX__E2B__API_URL": service.address,
        "PARLOUR__BOX__E2B__SANDBOX_URL": service.address,
    }


@pytest.fixture
def host(tmp_path: Path, service: E2bSimulator, box: BoxProcess) -> Iterator[Host]:
    host = Host(tmp_path, **settings(service, box))
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


@pytest.mark.timeout(900)
def test_packages_of_a_skill_are_installed_at_the_service_without_a_network(
    tmp_path: Path, service: E2bSimulator, box: BoxProcess
) -> None:
    wheel = write_wheel(tmp_path / "index" / "files", "indexed", {"indexed.py": "ANSWER = 'from the index'\n"})
    write_index(tmp_path / "index", wheel)
    pack = {"first/SKILL.md": document("first"), "first/requirements.txt": b"indexed==1.0\n"}
    with package_index(tmp_path / "index") as index:
        host = ScriptedModelsHost(tmp_path, PIP_INDEX_URL=index, **settings(service, box))
        host.install(LOCAL_PLUGIN)
        host.start()
        try:
            host.http().post("/skills/install", files={"file": ("pack.zip", zipped(pack))}).raise_for_status()
            policy = {"tools": ["exec"]}
            agent = host.agent(LOCAL, config={"model": MAIN}, resource_policy={"skills": "*"}, box_policy=policy)
            use = "cd /workspace/.skills/first && python3 -c 'import indexed; print(indexed.ANSWER)'"
            host.write(calls(("activate_skill", {"name": "first"})), calls(("box.exec", {"command": use})), "done")
            host.http().post("/events", json=message(agent, "go on", conversation_id="chat")).raise_for_status()
            eventually(lambda: len(host.requests()) == 3, "the agent has the results of both calls", 600)
            answers = [each["content"] for each in host.requests()[-1]["messages"] if each["role"] == "tool"]
            assert answers[-1] == "from the index\n"
            [sandbox] = service.sandboxes.values()
            assert sandbox.body["allow_internet_access"] is False, "the sandbox that downloaded has ended"
        finally:
            host.close()
