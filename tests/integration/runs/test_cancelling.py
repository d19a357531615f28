"""Tests cancellation: it takes effect at once whatever the runner does, and later results of the
runner appear nowhere.
"""

import asyncio
import json
import time
from pathlib import Path

import pytest

from tests.support.chat import Chat
from tests.support.harness import PUPPET, ROOT, Host, error_code, texts
from tests.support.scripted_models import LOCAL_PLUGIN, ScriptedModelsHost

PREPARING_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "preparing.py"

pytestmark = pytest.mark.both_runtimes


def cancel(host: Host, run_id: str) -> float:
    """Cancels a run and returns the seconds that it took."""
    started_at = time.monotonic()
    answer = host.http().post(f"/runs/{run_id}/cancel")
    seconds = time.monotonic() - started_at
    assert answer.status_code == 200, answer.text
    assert answer.json()["status"] == "cancelled"
    assert answer.json()["cancel_requested_at"] > 0
    return seconds


@pytest.mark.quiet
@pytest.mark.both_runtimes
def test_a_silent_run_is_cancelled_within_200_milliseconds(host: Host) -> None:
    agent = host.agent(PUPPET)
    host.send(agent, "sleep", event_id="to be cancelled")
    run_id = host.active_run(agent)

    assert cancel(host, run_id) < 0.2

    result = host.ask(agent, "sleep", event_id="to be cancelled")
    assert (result["outcome"], result["messages"]) == ("cancelled", [])


async def test_results_of_a_runner_that_ignores_its_cancellation_appear_nowhere(host: Host) -> None:
    agent = host.agent(PUPPET)
    async with Chat(host, agent) as chat:
        await chat.say("deaf early ")
        run_id = (await chat.until("run", status="running"))["run_id"]
        await chat.until("delta")

        cancel(host, run_id)

        await chat.until("run", status="cancelled")
        await chat.say("say next")  # when this is answered, the late text has already been dropped
        await chat.until("message")
        assert "late" not in json.dumps(chat.frames)
        assert "late" not in json.dumps(host.items(f"/runs/{run_id}/events"))
        transcript = host.transcript(chat.conversation_id)
    shown = [("user", "deaf early "), ("assistant", "early ")]
    assert transcript == [*shown, ("user", "say next"), ("assistant", "next")]
    assert host.run(run_id)["status"] == "cancelled"


def test_a_runner_that_ignores_its_cancellation_does_not_block_its_conversation(host: Host) -> None:
    agent = host.agent(PUPPET)
    host.send(agent, "deaf", conversation_id="deaf")
    cancel(host, host.active_run(agent))

    assert texts(host.ask(agent, "say next", conversation_id="deaf")) == ["next"]


async def test_a_chat_cancels_a_run_before_its_runner_is_called(tmp_path: Path) -> None:
    """Over HTTP a run can be cancelled while a plugin still prepares its prompt, so the chat must
    be able to do the same.
    """
    host = ScriptedModelsHost(tmp_path)
    host.install(LOCAL_PLUGIN)
    host.install(PREPARING_PLUGIN)
    host.start()
    try:
        agent = host.local()
        async with Chat(host, agent) as chat:
            await chat.say("hello")
            run_id = await asyncio.to_thread(host.active_run, agent)
            await chat.send(type="cancel")
            await chat.send(type="ping")
            await chat.until("pong")
            host.shared_file("go", "test/preparing").touch()
            await chat.until("run", status="cancelled")
            assert chat.of("error") == []
        assert host.run(run_id)["cancel_requested_at"] > 0
        assert host.requests() == []
    finally:
        host.close()


def test_a_finished_run_can_not_be_cancelled(host: Host) -> None:
    agent = host.agent(PUPPET)
    run_id = host.ask(agent, "say done")["run"]["run_id"]

    answer = host.http().post(f"/runs/{run_id}/cancel")

    assert (answer.status_code, error_code(answer)) == (409, "conflict")
    assert "completed" in answer.json()["error"]["message"]
    assert host.run(run_id)["status"] == "completed"


def test_a_cancelled_run_can_not_be_cancelled_again(host: Host) -> None:
    agent = host.agent(PUPPET)
    host.send(agent, "sleep")
    run_id = host.active_run(agent)
    cancel(host, run_id)

    assert host.http().post(f"/runs/{run_id}/cancel").status_code == 409
