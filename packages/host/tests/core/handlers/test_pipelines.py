"""Pipelines: a route's pipeline answers like its agent, with a policy and extensions of its own."""

from typing import Any

from parlour.core.config.routes import Route
from parlour.core.model.event import Participant
from parlour.core.model.pipeline import Pipeline
from parlour.core.store.tables import LIMITS, OUTCOMES, RUNS

from ..support import World, make_agent, message

GROUP = {"chat_type": "group", "chat_id": "42"}


async def open_world(**fields: Any) -> World:
    world = await World.open(make_agent(message_policy={"limits": [{"count": 1, "window": "day"}]}), echo=True)
    await world.core.pipelines.add(Pipeline("p", "Support", "agent", **fields))
    await world.core.routes.replace("bot", [Route("message.*", "pipeline", {"pipeline_id": "p"})])
    return world


async def say(world: World, text: str = "hello", **fields: Any) -> None:
    await world.say(text, surface="platform", data=GROUP, **fields)
    await world.rest()


def outcomes(world: World) -> list[str]:
    return [row["outcome"] for row in world.rows(OUTCOMES)]


async def test_pipeline_answers_by_its_agent() -> None:
    world = await open_world()
    await say(world)
    [run] = world.rows(RUNS)
    assert run["agent_id"] == "agent"
    assert "pipeline 'Support'" in run["metadata"]


async def test_policy_of_the_pipeline_holds_in_place_of_the_agents() -> None:
    world = await open_world(message_policy={"wake": {"groups": {"prefixes": ["ai"]}}, "limits": []})
    for text in ("hello", "ai one", "ai two"):
        await say(world, text)
    assert outcomes(world) == ["dropped", "answered", "answered"]


async def test_pipelines_of_one_agent_count_their_own_limits() -> None:
    world = await open_world(message_policy={"limits": [{"count": 1, "window": "day"}]})
    await say(world)
    await world.say("direct", actor="ann")
    await world.rest()
    assert outcomes(world) == ["answered", "answered"]
    assert sorted(row["policy_id"] for row in world.rows(LIMITS)) == ["agent:agent", "pipeline:p"]


async def test_disabled_and_missing_pipelines_and_agents_are_misconfigurations() -> None:
    world = await open_world(enabled=False)
    await say(world)
    await world.core.pipelines.replace(Pipeline("p", "Support", "gone"))
    await say(world)
    await world.core.pipelines.remove("p")
    await say(world)
    assert outcomes(world) == ["misconfigured"] * 3


async def test_pipeline_survives_a_restart() -> None:
    world = await open_world(skills=("a",), conversation_ttl=60.0)
    world = await world.restart()
    assert world.core.pipelines.get("p") == Pipeline("p", "Support", "agent", skills=("a",), conversation_ttl=60.0)


async def test_same_event_is_resolved_by_the_router_without_effects() -> None:
    world = await open_world()
    event = message("hello", surface="platform", data=GROUP, event_id="e")
    decision = world.core.router.decide(event)
    assert decision.handler_type == "agent"
    assert decision.binding.pipeline == world.core.pipelines.get("p")
    assert event.actor == Participant("user", "ann", "Ann")
    assert world.rows(RUNS) == []
