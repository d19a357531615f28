"""Tests plugins on the path of a message through the real program: what they may do, and that bad ones harm nobody."""

import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.support.harness import ECHO, ECHO_PLUGIN, ROOT, Host, bearer, texts

HOOKS = ROOT / "tests" / "fixtures" / "plugins" / "hostile_hooks.py"
TIME_LIMIT = 5


@pytest.fixture(scope="module")
def hooked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("hooked"))
    host.install(ECHO_PLUGIN)
    host.install(HOOKS)
    yield host.start()
    host.close()


def trail(host: Host, event_id: str) -> str:
    return " ".join(step["text"] for step in host.http().get(f"/events/{event_id}/why").json()["steps"])


def test_plugin_answers_changes_and_stops(hooked: Host) -> None:
    agent = hooked.agent(ECHO)
    closed = hooked.ask(agent, "closed", event_id="closed")
    assert (closed["outcome"], texts(closed), closed["run"]) == ("handled", ["We are closed."], None)
    assert "Plugin test/hostile-hooks answered the message itself." in trail(hooked, "closed")
    assert texts(hooked.ask(agent, "closed", event_id="closed")) == ["We are closed."]

    shouted = hooked.ask(agent, "shout", event_id="shout")
    assert texts(shouted) == ["HELLO!", "Was that loud enough?"]
    assert "changed what the agent reads" in trail(hooked, "shout")
    assert "replaced a reply" in trail(hooked, "shout")

    silent = hooked.ask(agent, "secret")
    assert (silent["outcome"], texts(silent)) == ("silent", [])


def test_dry_run_and_metrics_name_the_plugins_on_the_path(hooked: Host) -> None:
    agent, http = hooked.agent(ECHO), hooked.http()
    hooked.ask(agent, "closed")
    metrics = httpx.get(f"{hooked.address}/metrics", headers=bearer(hooked.key())).text
    assert 'parlour_hooks_total{event="message.arriving",code="answered"}' in metrics

    def asked(**fields: object) -> list[str]:
        created = http.post("/pipelines", json={"name": "desk", "agent_id": agent, **fields}).json()
        body = {"event": {"input": {"text": "hello"}}, "reply": "Hi!"}
        steps = http.post(f"/pipelines/{created['pipeline_id']}/dry-run", json=body).json()["steps"]
        return [step["checkpoint"] for step in steps if step["code"] == "asks_plugins"]

    assert asked() == ["admit", "finish"]
    assert asked(plugins=["another/plugin"]) == []


@pytest.mark.parametrize("behaviour", ["crash", "flood", "lie"])
def test_bad_plugin_lets_the_message_pass(hooked: Host, behaviour: str) -> None:
    result = hooked.ask(hooked.agent(ECHO), behaviour, event_id=f"bad {behaviour}")
    assert texts(result) == [behaviour]
    assert "so nothing was changed" in trail(hooked, f"bad {behaviour}")


@pytest.mark.long
@pytest.mark.parametrize("behaviour", ["hang", "block", "hang here"])
def test_plugin_that_does_not_answer_delays_one_message_only(hooked: Host, behaviour: str) -> None:
    agent = hooked.agent(ECHO)
    started_at = time.monotonic()
    hooked.send(agent, behaviour, event_id=f"slow {behaviour}")
    assert texts(hooked.ask(agent, "closed", conversation_id="another chat")) in (["We are closed."], ["closed"])
    assert texts(hooked.ask(agent, behaviour, event_id=f"slow {behaviour}")) == [behaviour]
    assert time.monotonic() - started_at < TIME_LIMIT * 3
    assert "did not answer in time" in trail(hooked, f"slow {behaviour}")


@pytest.mark.long
def test_answers_survive_a_kill_of_the_host(make_host: Callable[..., Host]) -> None:
    host = make_host(ECHO_PLUGIN, HOOKS).start()
    agent = host.agent(ECHO)
    assert texts(host.ask(agent, "closed", event_id="before")) == ["We are closed."]
    host.kill()
    host.start()
    again = host.ask(agent, "closed", event_id="before")
    assert (again["outcome"], texts(again)) == ("handled", ["We are closed."])
