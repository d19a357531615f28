"""The outcome of events that start no run."""

import asyncio
import logging
from dataclasses import replace

import pytest

from parlour.core.config.routes import Route
from parlour.core.encoding import loads
from parlour.core.runs.lanes import MAX_FAILURES
from parlour.core.store.tables import INBOX, OUTBOX, OUTCOMES, RUNS, TRANSCRIPT

from ..support import DISCOVERY, PLUGIN, World, make_agent, settle


def outcome(world: World) -> tuple[str, str]:
    [row] = world.rows(OUTCOMES)
    assert world.rows(INBOX) == []
    return row["outcome"], row["reason"]


def notices(world: World) -> list[str]:
    return [loads(row["payload"])["code"] for row in world.rows(OUTBOX)]


async def test_event_without_a_route_is_dropped_with_its_reason() -> None:
    world = await World.open()
    await world.say("hi", surface="platform", event_type="group.joined")
    await world.rest()
    assert outcome(world) == ("dropped", "no route takes group.joined")
    assert notices(world) == []


@pytest.mark.parametrize("surface", ["webui", "platform"])
async def test_disabled_agent_is_reported_as_misconfigured(surface: str) -> None:
    world = await World.open(make_agent(enabled=False))
    await world.say("hi", surface=surface)
    await world.rest()
    assert outcome(world)[0] == "misconfigured"
    assert notices(world) == ["misconfigured"]


async def test_missing_runner_is_reported_to_the_sender() -> None:
    world = await World.open(replace(make_agent(), runner_id="plugin:acme/gone/default"))
    await world.say("hi")
    await world.rest()
    assert outcome(world)[0] == "failed"
    assert "plugin:acme/gone/default" in outcome(world)[1]
    assert notices(world) == ["runner.unavailable"]
    assert world.rows(RUNS) == []


async def test_event_waits_for_a_starting_plugin() -> None:
    world = await World.open(echo=True)
    world.core.registry.remove_plugin(PLUGIN)
    with world.core.registry.mark_starting([PLUGIN]):
        await world.say("patience")
        await world.say("patience too", chat="another")
        await settle()
        assert (len(world.rows(INBOX)), world.rows(RUNS), notices(world)) == (2, [], [])
        world.core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
        await world.rest()
    assert [row["status"] for row in world.rows(RUNS)] == ["completed", "completed"]


async def test_failed_plugin_start_is_reported_to_the_sender() -> None:
    world = await World.open()
    world.core.registry.remove_plugin(PLUGIN)
    with world.core.registry.mark_starting([PLUGIN]):
        await world.say("hi")
        await settle()
        assert world.rows(OUTCOMES) == []
    await world.rest()
    assert outcome(world)[0] == "failed"
    assert notices(world) == ["runner.unavailable"]


async def test_event_waiting_for_its_plugin_survives_a_stop() -> None:
    world = await World.open(echo=True)
    world.core.registry.remove_plugin(PLUGIN)
    with world.core.registry.mark_starting([PLUGIN]):
        await world.say("hi")
        await settle()
        world.core.lanes.close()
        await world.core.lanes.join()
    assert (len(world.rows(INBOX)), world.rows(OUTCOMES)) == (1, [])
    world = await world.restart()
    await world.rest()
    assert [row["status"] for row in world.rows(RUNS)] == ["completed"]


@pytest.mark.parametrize(("surface", "expected"), [("webui", ["expired"]), ("platform", [])])
async def test_expired_event_is_reported_only_in_the_web_chat(surface: str, expected: list[str]) -> None:
    world = await World.open(make_agent(stale_after=60))
    world.core.lanes.close()
    await world.say("late", surface=surface)
    await asyncio.sleep(61)
    world = await world.restart()
    await world.rest()
    assert outcome(world)[0] == "expired"
    assert notices(world) == expected


async def test_event_within_its_time_is_answered() -> None:
    world = await World.open(make_agent(stale_after=60), echo=True)
    world.core.lanes.close()
    await world.say("in time")
    await asyncio.sleep(60)
    world = await world.restart()
    await world.rest()
    assert outcome(world)[0] == "answered"


async def test_notice_is_part_of_the_transcript() -> None:
    world = await World.open(make_agent(enabled=False))
    await world.say("hi")
    await world.rest()
    assert ("assistant", "notice") in [(row["role"], row["item_type"]) for row in world.rows(TRANSCRIPT)]


async def test_route_is_resolved_when_the_event_is_handled() -> None:
    world = await World.open()
    await world.say("first", surface="platform")
    run = await world.plugins.next_run()
    await world.say("second", surface="platform", actor="bob")
    await world.core.routes.replace("bot", [Route("*", "drop")])
    run.answer("hello")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered", "dropped"]


async def test_event_that_raises_is_quarantined_and_the_next_is_answered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = await World.open()
    await world.say("first", surface="platform")
    run = await world.plugins.next_run()
    for actor in ("bob", "cid"):
        await world.say(f"from {actor}", surface="platform", actor=actor)
    faults = iter(range(MAX_FAILURES + 1))

    def expects(runner_id: str) -> bool:
        for _ in faults:
            raise RuntimeError("a bug")
        return False

    monkeypatch.setattr(world.core.registry, "is_starting", expects)
    with caplog.at_level(logging.CRITICAL):
        run.answer("one")
        (await world.plugins.next_run()).answer("three")
        await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered", "quarantined", "answered"]
    assert world.rows(INBOX) == []
    assert (notices(world)[1], world.surface.texts[0], world.surface.texts[2]) == ("quarantined", "one", "three")
