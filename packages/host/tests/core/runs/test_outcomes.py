"""Waiting for an event to be settled."""

import asyncio

from parlour.core.runs.outcomes import Outcomes
from parlour.core.store.inbox import InboxOutcome

from ..support import World

ANSWERED = InboxOutcome(7, "answered", "stop", "run")


async def test_everyone_who_waits_for_an_event_is_told_what_became_of_it() -> None:
    outcomes = Outcomes()
    one, two, other = outcomes.wait_for(7), outcomes.wait_for(7), outcomes.wait_for(8)
    outcomes.publish([ANSWERED])
    assert await one == await two == ANSWERED
    assert not other.done()
    other.cancel()


async def test_who_stops_waiting_is_forgotten() -> None:
    outcomes = Outcomes()
    waiting = outcomes.wait_for(7)
    waiting.cancel()
    await asyncio.sleep(0)
    outcomes.publish([ANSWERED])
    assert outcomes._waiting == {}


async def test_an_answered_event_leaves_nobody_waiting() -> None:
    world = await World.open()
    accepted = await world.say("hi")
    waiting = world.core.outcomes.wait_for(accepted.seq)
    run = await world.plugins.next_run()
    run.answer("hello")
    settled = await waiting
    assert (settled.outcome, settled.run_id) == ("answered", run.run_id)
    await world.rest()
