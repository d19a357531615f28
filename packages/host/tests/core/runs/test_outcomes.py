"""Waiting for an event to be settled."""

import asyncio

from parlour.core.runs.outcomes import Outcomes
from parlour.core.store.inbox import InboxOutcome

from ..support import World

ANSWERED = InboxOutcome(7, "answered", "stop", "run")


async def test_all_waiters_of_an_event_receive_its_outcome() -> None:
    outcomes = Outcomes()
    one, two, other = outcomes.wait_for(7), outcomes.wait_for(7), outcomes.wait_for(8)
    outcomes.publish([ANSWERED])
    assert await one == await two == ANSWERED
    assert not other.done()
    other.cancel()


async def test_cancelled_waiter_is_removed() -> None:
    outcomes = Outcomes()
    waiting = outcomes.wait_for(7)
    waiting.cancel()
    await asyncio.sleep(0)
    outcomes.publish([ANSWERED])
    assert outcomes._futures == {}


async def test_waiter_receives_the_outcome_of_an_answered_event() -> None:
    world = await World.open()
    accepted = await world.say("hi")
    waiting = world.core.outcomes.wait_for(accepted.seq)
    run = await world.plugins.next_run()
    run.answer("hello")
    outcome = await waiting
    assert (outcome.outcome, outcome.run_id) == ("answered", run.run_id)
    await world.rest()
