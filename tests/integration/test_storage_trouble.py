"""No room to write while the Host runs: nothing is half done, and it goes on by itself when there is room."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .chat import Chat
from .harness import ECHO_PLUGIN, PUPPET, PUPPET_PLUGIN, Host, error_code, eventually, message, texts
from .plugins import write_plugin, write_zip

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
def no_room(host: Host) -> Iterator[None]:
    """Within this no file of the Host can grow, nor be written beyond its first bytes."""
    pid = host.process.pid
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, UNLIMITED)


def test_without_room_an_event_is_refused_and_with_room_the_same_event_is_taken(starving: Host) -> None:
    agent = starving.agent()
    body = message(agent, "hello", event_id="refused", conversation_id="refused")
    before = len(starving.items("/events"))

    with no_room(starving):
        answer = starving.http().post("/events?wait=result", json=body)
        assert (answer.status_code, error_code(answer)) == (507, "storage_full")
        assert len(starving.items("/events")) == before, "reading goes on"
        assert starving.items("/runs", agent_id=agent) == []

    result = starving.http().post("/events?wait=result", json=body).json()
    assert texts(result) == ["hello"]
    assert starving.transcript(result["conversation_id"]) == [("user", "hello"), ("assistant", "hello")]


def test_an_accepted_event_is_answered_once_there_is_room_again(starving: Host) -> None:
    agent = starving.agent(PUPPET)
    gate_file = starving.shared_file("gate")
    text = f"gate {gate_file}"
    sent = starving.send(agent, text, event_id="accepted", conversation_id="accepted")
    starving.send(agent, "say after", event_id="after", conversation_id="accepted")
    starving.active_run(agent)

    with no_room(starving):
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


async def test_without_room_a_chat_is_told_and_goes_on_afterwards(starving: Host) -> None:
    async with Chat(starving, starving.agent()) as chat:
        with no_room(starving):
            await chat.say("lost?", id="kept by the client")
            assert (await chat.until("error"))["code"] == "storage_full"
        assert await chat.answer("lost?", id="kept by the client") == "lost?"
    assert len(starving.transcript(chat.conversation_id)) == 2


def test_without_room_plugins_are_not_changed_and_the_remedy_is_said(starving: Host, tmp_path: Path) -> None:
    http, path = starving.http(), "/plugins/parlour/echo-agent"
    file = write_zip(write_plugin(tmp_path / "plugin", "uploaded"))

    with no_room(starving):
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


def test_without_room_a_plugin_that_ended_is_started_again_and_one_that_is_asked_to_is_restarted(
    starving: Host,
) -> None:
    echo = "parlour/echo-agent"
    process = starving.plugin_process(echo)

    with no_room(starving):
        process.kill()
        eventually(lambda: starving.plugin_status(echo) != "ready", "it is missed")
        eventually(lambda: starving.plugin_status(echo) == "ready", "it is back")
        again = starving.plugin_process(echo)
        assert starving.http().post(f"/plugins/{echo}/restart").status_code == 200
        eventually(lambda: starving.plugin_process(echo).pid != again.pid, "it has another process")

    assert texts(starving.ask(starving.agent(), "hello")) == ["hello"]
