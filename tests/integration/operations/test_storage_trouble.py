"""Tests a Host that runs out of disk space: no work is half done, and it recovers by itself when there is space."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.chat import Chat
from tests.support.harness import ECHO_PLUGIN, PUPPET, PUPPET_PLUGIN, Host, error_code, eventually, message, texts
from tests.support.plugins import write_plugin, write_zip

UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@pytest.fixture(scope="module")
def starving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("starving"))
    host.install(ECHO_PLUGIN)
    host.install(PUPPET_PLUGIN)
    host.start()
    yield host
    host.close()


@contextmanager
def disk_full(host: Host) -> Iterator[None]:
    """Prevents all files of the Host from growing while the context is open."""
    pid = host.process.pid
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, UNLIMITED)


def test_without_disk_space_an_event_is_refused_and_accepted_again_with_space(starving: Host) -> None:
    agent = starving.agent()
    body = message(agent, "hello", event_id="refused", conversation_id="refused")
    before = len(starving.items("/events"))

    with disk_full(starving):
        answer = starving.http().post("/events?wait=result", json=body)
        assert (answer.status_code, error_code(answer)) == (507, "storage_full")
        assert len(starving.items("/events")) == before, "reading goes on"
        assert starving.items("/runs", agent_id=agent) == []

    result = starving.http().post("/events?wait=result", json=body).json()
    assert texts(result) == ["hello"]
    assert starving.transcript(result["conversation_id"]) == [("user", "hello"), ("assistant", "hello")]


def test_an_accepted_event_is_answered_when_there_is_disk_space_again(starving: Host) -> None:
    agent = starving.agent(PUPPET)
    gate_file = starving.shared_file("gate")
    text = f"gate {gate_file}"
    sent = starving.send(agent, text, event_id="accepted", conversation_id="accepted")
    starving.send(agent, "say after", event_id="after", conversation_id="accepted")
    starving.active_run(agent)

    with disk_full(starving):
        gate_file.touch()
        eventually(Path(f"{gate_file}.passed").exists, "the runner has said all it had to say")
        answer = starving.http().post("/agents", json={"name": "n", "runner_id": PUPPET})
        assert (answer.status_code, error_code(answer)) == (507, "storage_full")

    result = starving.ask(agent, text, event_id="accepted", conversation_id="accepted")
    assert (result["outcome"], texts(result)) == ("answered", ["waiting is over"])
    assert texts(starving.ask(agent, "say after", event_id="after", conversation_id="accepted")) == ["after"]
    said = starving.transcript(sent["conversation_id"])
    assert [speaker for speaker, _ in said if speaker == "user"] == ["user", "user"]
    assert said[-1] == ("assistant", "after")
    assert len(said) == 4


async def test_without_disk_space_a_chat_gets_an_error_and_continues_afterwards(starving: Host) -> None:
    async with Chat(starving, starving.agent()) as chat:
        with disk_full(starving):
            await chat.say("lost?", id="kept by the client")
            assert (await chat.until("error"))["code"] == "storage_full"
        assert await chat.answer("lost?", id="kept by the client") == "lost?"
    assert len(starving.transcript(chat.conversation_id)) == 2


def test_without_disk_space_a_plugin_install_is_refused_with_a_remedy(starving: Host, tmp_path: Path) -> None:
    http, path = starving.http(), "/plugins/parlour/echo-agent"
    file = write_zip(write_plugin(tmp_path / "plugin", "uploaded"))

    with disk_full(starving):
        answers = [
            http.put(path, json={"enabled": False}),
            http.delete(path),
            http.post("/plugins/install", json={"source": str(tmp_path / "plugin")}),
            http.post("/plugins/install", files={"file": ("plugin.zip", file.read_bytes())}),
        ]

    assert [(each.status_code, error_code(each)) for each in answers] == [(507, "storage_full")] * 4
    assert {"make room on the disk" in each.json()["error"]["message"] for each in answers} == {True}
    assert [each["status"] for each in starving.items("/plugins")] == ["ready", "ready"]
    assert http.put(path, json={"enabled": True}).status_code == 200


def test_without_disk_space_a_killed_plugin_and_a_requested_restart_still_work(
    starving: Host,
) -> None:
    echo = "parlour/echo-agent"
    process = starving.plugin_process(echo)

    with disk_full(starving):
        process.kill()
        eventually(lambda: starving.plugin_status(echo) != "ready", "it is missed")
        eventually(lambda: starving.plugin_status(echo) == "ready", "it is back")
        again = starving.plugin_process(echo)
        assert starving.http().post(f"/plugins/{echo}/restart").status_code == 200
        eventually(lambda: starving.plugin_process(echo).pid != again.pid, "it has another process")

    assert texts(starving.ask(starving.agent(), "hello")) == ["hello"]
