"""What becomes of an event when its turn comes and no run starts."""

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


async def test_an_event_that_no_route_takes_is_dropped_silently_with_its_reason() -> None:
    world = await World.open()
    await world.say("hi", surface="platform", event_type="group.joined")
    await world.rest()
    assert outcome(world) == ("dropped", "no route takes group.joined")
    assert notices(world) == []


@pytest.mark.parametrize("surface", ["webui", "platform"])
async def test_a_disabled_agent_is_a_visible_configuration_error(surface: str) -> None:
    world = await World.open(make_agent(enabled=False))
    await world.say("hi", surface=surface)
    await world.rest()
    assert outcome(world)[0] == "misconfigured"
    assert notices(world) == ["misconfigured"]


async def test_a_runner_that_is_not_there_is_told_to_the_sender() -> None:
    world = await World.open(replace(make_agent(), runner_id="plugin:acme/gone/default"))
    await world.say("hi")
    await world.rest()
    assert outcome(world)[0] == "failed"
    assert "plugin:acme/gone/default" in outcome(world)[1]
    assert notices(world) == ["runner.unavailable"]
    assert world.rows(RUNS) == []


async def test_an_event_waits_for_a_plugin_that_is_about_to_come() -> None:
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


async def test_an_event_whose_plugin_did_not_come_is_told_to_the_sender() -> None:
    world = await World.open()
    world.core.registry.remove_plugin(PLUGIN)
    with world.core.registry.mark_starting([PLUGIN]):
        await world.say("hi")
        await settle()
        assert world.rows(OUTCOMES) == []
    await world.rest()
    assert outcome(world)[0] == "failed"
    assert notices(world) == ["runner.unavailable"]


async def test_an_event_that_waits_for_its_plugin_when_the_host_stops_stays_owed() -> None:
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


@pytest.mark.parametrize(("surface", "told"), [("webui", ["expired"]), ("platform", [])])
async def test_an_event_that_waited_too_long_expires_and_platforms_hear_nothing_out_of_the_blue(
    surface: str, told: list[str]
) -> None:
    world = await World.open(make_agent(stale_after=60))
    world.core.lanes.close()
    await world.say("late", surface=surface)
    await asyncio.sleep(61)
    world = await world.restart()
    await world.rest()
    assert outcome(world)[0] == "expired"
    assert notices(world) == told


async def test_an_event_just_within_its_time_is_answered() -> None:
    world = await World.open(make_agent(stale_after=60), echo=True)
    world.core.lanes.close()
    await world.say("in time")
    await asyncio.sleep(60)
    world = await world.restart()
    await world.rest()
    assert outcome(world)[0] == "answered"


async def test_a_notice_is_part_of_the_conversation_as_its_people_saw_it() -> None:
    world = await World.open(make_agent(enabled=False))
    await world.say("hi")
    await world.rest()
    assert ("assistant", "notice") in [(row["role"], row["item_type"]) for row in world.rows(TRANSCRIPT)]


async def test_a_route_that_changes_while_a_message_waits_decides_when_its_turn_comes() -> None:
    world = await World.open()
    await world.say("first", surface="platform")
    run = await world.plugins.next_run()
    await world.say("second", surface="platform", actor="bob")
    await world.core.routes.replace("bot", [Route("*", "drop")])
    run.answer("hello")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered", "dropped"]


async def test_an_event_at_which_the_host_itself_fails_is_told_and_the_next_is_answered(
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
