"""Results and ends of remote runs: appended, repeated, finalized and cancelled."""

import pytest

from parlour.core.encoding import loads
from parlour.core.store.tables import QUEUE, RUNS, STATE

from .worker_support import (
    BOARD,
    FORGE,
    ask,
    hold,
    outgoing,
    workshop,
)


async def test_appended_results_have_the_effects_of_a_local_run() -> None:
    world = await workshop()
    held = await hold(world)
    await held.delta("half ")
    await held.delta("a word")
    await held.send("state.updated", {"scope": "conversation", "key": "k", "value": 1})
    await held.say("half a word")
    await held.send("run.completed", {"finish_reason": "stop", "usage": {"prompt_tokens": 7, "completion_tokens": 1}})
    await world.rest()
    kinds = [kind for kind, _ in world.facts(held.run_id)]
    assert kinds == ["message.delta", "state.updated", "message.completed", "run.completed"]
    assert world.facts(held.run_id)[0][1]["chunk"]["content"] == "half a word"
    assert [row["value"] for row in world.rows(STATE)] == ["1"]
    assert loads(world.rows(RUNS)[0]["usage"])["prompt_tokens"] == 7


async def test_repeated_result_is_stored_once_and_a_different_one_refused() -> None:
    world = await workshop()
    held = await hold(world)
    await held.delta("one ")
    await held.delta("one ", sequence=1)
    await held.say("one")
    await held.say("one", sequence=2)
    with pytest.raises(Exception, match="other content"):
        await held.say("two", sequence=2)
    with pytest.raises(Exception, match="other content"):
        await held.delta("two", sequence=1)
    await held.complete()
    await held.complete(sequence=3)
    await world.rest()
    with pytest.raises(Exception, match="over"):
        await held.say("after all", sequence=4)
    assert outgoing(world) == ["one"]


async def test_invalid_result_is_refused_and_its_number_stays_free() -> None:
    world = await workshop()
    held = await hold(world)
    with pytest.raises(Exception, match="message"):
        await held.send("message.completed", {"text": "no"}, sequence=1)
    with pytest.raises(Exception, match="run_id"):
        await ask(
            world,
            FORGE,
            "run_append_result",
            target_run_id=held.run_id,
            lease=held.lease,
            result={"run_id": "another", "type": "message.delta", "data": {}},
        )
    await held.say("yes", sequence=1)
    await held.complete(sequence=2)
    await world.rest()
    assert outgoing(world) == ["yes"]


@pytest.mark.parametrize(
    ("result", "ended"),
    [
        ({"status": "failed", "error": "no luck"}, ("failed", "runner.error", "no luck")),
        ({"status": "failed", "code": "forge.cold", "error": "cold"}, ("failed", "forge.cold", "cold")),
        ({"status": "cancelled"}, ("cancelled", "cancelled", "")),
        ({"status": "timeout"}, ("timeout", "runner.timeout", "")),
        ({"status": "completed"}, ("failed", "runner.no_output", "the runner ended without an answer")),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_holder_finalizes_its_run(result: dict[str, str], ended: tuple[str, str, str]) -> None:
    world = await workshop()
    held = await hold(world)
    answer = await held.ask("run_finalize", **result)
    assert answer["status"] == ended[0]
    await world.rest()
    row = world.rows(RUNS)[0]
    assert (row["status"], row["status_reason"], row["error"]) == ended
    assert (await held.ask("run_finalize", status=ended[0]))["status"] == ended[0]
    assert world.rows(QUEUE) == []


async def test_remaining_deltas_become_the_message_of_a_completed_run() -> None:
    world = await workshop()
    held = await hold(world)
    await held.delta("all I ")
    await held.delta("said")
    assert (await held.ask("run_finalize", status="completed"))["status"] == "completed"
    await world.rest()
    assert outgoing(world) == ["all I said"]


async def test_cancelled_run_ends_at_once_and_its_holder_is_notified() -> None:
    world = await workshop()
    held = await hold(world)
    await held.say("so far")
    cancelled = await ask(world, BOARD, "run_cancel", target_run_id=held.run_id, reason="not wanted")
    assert (cancelled["status"], cancelled["status_reason"]) == ("cancelled", "cancelled")
    assert (await held.ask("run_renew"))["cancel_requested"] is True
    with pytest.raises(Exception, match="over"):
        await held.say("more")
    await world.rest()
    assert outgoing(world) == ["so far"]
