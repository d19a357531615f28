"""Tests the echo agent in a Host, with its own manifest, its form's defaults and its conversation's state."""

from pathlib import Path

import pytest

from parlour_sdk.testing import FakeHost

FOLDER = Path(__file__).parents[1]


@pytest.fixture
def host() -> FakeHost:
    return FakeHost()


async def test_it_answers_with_the_text_of_the_message(host: FakeHost) -> None:
    run = await host.run(FOLDER, "one two")
    assert (run.text, run.deltas) == ("one two", ["one", " two"])
    assert [item.content for item in host.history] == ["one two", "one two"]


async def test_it_stays_silent_on_an_empty_message(host: FakeHost) -> None:
    assert (await host.run(FOLDER, " ")).silent


async def test_it_remembers_its_conversation_and_no_other(host: FakeHost) -> None:
    assert [(await host.run(FOLDER, "hi", config={"remember": True})).text for _ in range(2)] == ["1 hi", "2 hi"]
    host.new_conversation()
    run = await host.run(FOLDER, "hi", config={"remember": True})
    assert run.text == "1 hi"
    assert run.state["conversation"] == {"echo.seen": 1}


async def test_it_adds_messages_that_arrive_while_it_holds(host: FakeHost) -> None:
    async with host.start(FOLDER, "first", config={"hold_ms": 200}) as run:
        await run.until_delta("first")
        run.steer("second")
    assert run.text == "first\nsecond"
    assert run.unpulled == []


async def test_it_stops_when_it_is_cancelled(host: FakeHost) -> None:
    async with host.start(FOLDER, "first", config={"hold_ms": 60_000}) as run:
        await run.until_delta()
        run.cancel()
    assert run.status == "cancelled"
    assert run.warnings == []


async def test_it_makes_no_call_without_a_permission_in_its_manifest(host: FakeHost) -> None:
    run = await host.run(FOLDER, "hi", config={"remember": True, "hold_ms": 1})
    assert {call.action for call in run.calls} == {"state_get", "state_set", "steering_pull"}
    assert not any(call.error for call in run.calls)
