"""Runs that plugins create, read, cancel and retry: their grants and the permissions needed."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.model.resource_policy import ResourcePolicy, Rule, SenderCondition
from parlour.core.store.tables import INBOX, OUTCOMES, RUNS, TRANSCRIPT
from parlour_sdk.protocol.manifest import PluginPermissions

from ..actions.action_requests import GRANTED, PROVIDERS, discovery
from ..support import PLUGIN, RUNNER, World, make_agent, settle
from .worker_support import BOARD, OTHER, PERMISSIONS, ask, create, outgoing, queue_run, refusal, workshop


def grant_of(world: World, run_id: str) -> dict[str, Any]:
    return dict(loads(world.rows(RUNS, run_id=run_id)[0]["snapshot"]))


async def open_with_resources(policy: ResourcePolicy = GRANTED, **permissions: Any) -> World:
    """Opens a world with models and tools and with these permissions of the creating plugin."""
    granted = PluginPermissions(agent_runs=["read", "create", "control"], **permissions)
    return await World.open(
        make_agent(resource_policy=policy),
        discovery=discovery(),
        providers=PROVIDERS,
        plugin_grants=lambda plugin_id: granted if plugin_id == BOARD else PERMISSIONS.get(plugin_id, granted),
    )


async def test_created_run_is_answered_and_readable() -> None:
    world = await workshop()
    created = await create(world, "hello", event={"data": {"ticket": 7}})
    run = await world.plugins.next_run()
    assert run.run_id == created["run_id"]
    assert created["metadata"]["created_by"] == BOARD
    assert run.context["event"]["data"] == {"ticket": 7}
    assert run.context["event"]["event_type"] == "api.invoked"
    assert run.context["actor"]["actor_id"] == BOARD
    run.answer("hi")
    await world.rest()
    fetched = await ask(world, BOARD, "run_get", target_run_id=created["run_id"])
    assert (fetched["status"], fetched["attempt"]) == ("completed", 1)
    page = await ask(world, BOARD, "run_events_page", target_run_id=created["run_id"], limit=1)
    assert [item["type"] for item in page["items"]] == ["message.completed"]
    assert page["has_more"]
    rest = await ask(world, BOARD, "run_events_page", target_run_id=created["run_id"], after_sequence=1)
    assert [item["type"] for item in rest["items"]] == ["run.completed"]
    assert not rest["has_more"]


async def test_runner_runs_without_an_agent() -> None:
    world = await workshop()
    created = await create(world, "hello", agent_id=None, runner_id=RUNNER, config={})
    assert created["agent_id"] is None
    (await world.plugins.next_run()).answer("hi")
    await world.rest()
    assert outgoing(world) == ["hi"]


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        ({"agent_id": "missing"}, "not_found", "missing"),
        ({"agent_id": None, "runner_id": "plugin:a/b/c"}, "not_found", "plugin:a/b/c"),
        ({"config": {"colour": "red"}}, "invalid_argument", "config.colour"),
        ({"event": {"conversation_id": "another"}}, "not_found", "conversation_id"),
        ({"event": {"actor": {"actor_type": "user", "actor_id": "boss"}}}, "unauthorized", "event.actor"),
        ({"agent_id": None}, "invalid_argument", "agent_id"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_invalid_run_request_leaves_no_rows(arguments: dict[str, Any], code: str, named: str) -> None:
    world = await workshop()
    event = {"input": {"text": "x"}, **arguments.pop("event", {})}
    refused = await refusal(world, BOARD, "run_create", **{"agent_id": "agent", "event": event, **arguments})
    assert refused.code == code
    assert named in refused.message
    assert world.rows(RUNS) == []
    assert world.rows(INBOX) == []


async def test_same_event_id_creates_one_run() -> None:
    world = await workshop()
    made = [await create(world, event={"event_id": "ticket-7"}) for _ in range(3)]
    assert len({each["run_id"] for each in made}) == 1
    other = await create(world, plugin=OTHER, event={"event_id": "ticket-7"})
    assert other["run_id"] != made[0]["run_id"]


async def test_created_run_has_at_most_the_grant_of_its_creator() -> None:
    world = await open_with_resources(models=["invoke"], storage=["plugin"])
    created = await create(world)
    granted = grant_of(world, created["run_id"])
    assert granted["resources"] == {"models": {"model": ["invoke"]}}
    assert granted["storage"] == ["plugin"]
    assert granted["actions"] == []
    assert "agent_runs:admin" not in granted["permissions"]
    assert "agent_runs:create" in granted["permissions"]
    assert "history_page" in granted["apis"]
    run = await world.plugins.next_run()
    assert [each["model_id"] for each in run.context["resources"]["models"]] == ["model"]


async def test_created_run_has_at_most_the_grant_of_its_agent() -> None:
    everything = {"models": ["invoke", "stream"], "tools": ["detail", "call"], "storage": ["plugin", "workspace"]}
    world = await open_with_resources(ResourcePolicy(models=("model",), storage=("plugin",)), **everything)
    granted = grant_of(world, (await create(world))["run_id"])
    assert granted["resources"] == {"models": {"model": ["invoke", "stream"]}}
    assert granted["storage"] == ["plugin"]


async def test_nested_run_acts_for_its_sender_with_the_smaller_grant() -> None:
    policy = replace(GRANTED, rules=(Rule(SenderCondition(users=("ann",)), deny={"tools": "*"}),))
    world = await open_with_resources(policy)
    await world.say("do it", actor="ann")
    parent = await world.plugins.next_run()
    event = {"event": {"input": {"text": "sub"}}}
    created = await world.call(parent, "run_create", agent_id="agent", **event)
    child = await world.plugins.next_run()
    assert child.run_id == created["run_id"]
    assert created["parent_run_id"] == parent.run_id
    assert child.context["actor"]["actor_id"] == "ann"
    assert (
        "tools" not in grant_of(world, child.run_id)["resources"]
        or not grant_of(world, child.run_id)["resources"]["tools"]
    )
    named = {"input": {}, "actor": {"actor_type": "user", "actor_id": "bob"}}
    with pytest.raises(Exception, match=r"event\.actor"):
        await world.call(parent, "run_create", agent_id="agent", event=named)


async def test_run_creates_runs_only_in_its_own_conversation() -> None:
    world = await open_with_resources()
    accepted = await world.say("do it", surface="platform")
    parent = await world.plugins.next_run()
    same_conversation = {"input": {"text": "later"}, "conversation_id": accepted.conversation_id}
    created = await world.call(parent, "run_create", agent_id="agent", event=same_conversation)
    await settle()
    assert created["status"] == "created"
    parent.answer("first")
    child = await world.plugins.next_run()
    assert child.run_id == created["run_id"]
    child.answer("second")
    await world.rest()
    assert world.surface.texts == ["first", "second"]
    await world.say("elsewhere", chat="other", surface="platform")
    other = await world.plugins.next_run()
    with pytest.raises(Exception, match="conversation_id"):
        await world.call(other, "run_create", agent_id="agent", event=same_conversation)


async def test_depth_of_nested_runs_is_limited() -> None:
    world = await open_with_resources()
    await world.say("go")
    run = await world.plugins.next_run()
    deeper = {"agent_id": "agent", "event": {"input": {"text": "deeper"}}}
    for _ in range(8):
        await world.call(run, "run_create", **deeper)
        run = await world.plugins.next_run()
    with pytest.raises(Exception, match="8 deep"):
        await world.call(run, "run_create", **deeper)
    assert len(world.rows(RUNS)) == 9


async def test_plugin_sees_its_own_runs_and_an_administrator_all() -> None:
    world = await workshop()
    own = await create(world)
    run = await world.plugins.next_run()
    for plugin, found in ((BOARD, True), (PLUGIN, True), ("acme/admin", True), (OTHER, False)):
        if found:
            assert (await ask(world, plugin, "run_get", target_run_id=own["run_id"]))["run_id"] == own["run_id"]
            continue
        for action in ("run_get", "run_events_page", "run_cancel", "run_retry"):
            refused = await refusal(world, plugin, action, target_run_id=own["run_id"])
            unknown = await refusal(world, plugin, action, target_run_id="none")
            assert (refused.code, refused.message) == ("not_found", unknown.message)
    assert [each["run_id"] for each in (await ask(world, PLUGIN, "run_list"))["items"]] == [run.run_id]
    assert (await ask(world, OTHER, "run_list"))["items"] == []


async def test_runs_are_listed_in_pages_newest_first() -> None:
    world = await workshop(echo=True)
    made = [(await create(world, f"{number}"))["run_id"] for number in range(5)]
    await world.rest()
    listed: list[str] = []
    cursor = None
    while True:
        page = await ask(world, "acme/admin", "run_list", limit=2, cursor=cursor, status="completed")
        listed += [each["run_id"] for each in page["items"]]
        cursor = page["next_cursor"]
        if not page["has_more"]:
            break
    assert listed == made[::-1]
    assert cursor is None
    page = await ask(world, "acme/admin", "run_list", limit=2)
    for bad in ({"cursor": page["next_cursor"], "status": "failed"}, {"cursor": "nonsense"}):
        assert (await refusal(world, "acme/admin", "run_list", **bad)).code == "invalid_argument"
    assert (await refusal(world, PLUGIN, "run_list", cursor=page["next_cursor"])).code == "invalid_argument"


async def test_running_run_is_cancelled_and_its_runner_stopped() -> None:
    world = await workshop()
    created = await create(world)
    run = await world.plugins.next_run()
    cancelled = await ask(world, BOARD, "run_cancel", target_run_id=created["run_id"])
    assert cancelled["status"] == "cancelled"
    assert run.aborted is not None
    refused = await refusal(world, BOARD, "run_cancel", target_run_id=created["run_id"])
    assert (refused.code, "cancelled" in refused.message) == ("invalid_argument", True)


async def test_waiting_run_is_cancelled_and_never_starts() -> None:
    world = await workshop()
    first = await create(world, "first")
    run = await world.plugins.next_run()
    later = await create(world, "later", event={"conversation_id": first["conversation_id"]})
    cancelled = await ask(world, BOARD, "run_cancel", target_run_id=later["run_id"])
    assert cancelled["status"] == "cancelled"
    run.answer("done")
    await world.rest()
    assert len(world.plugins.runs) == 1
    assert world.rows(INBOX) == []
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered", "cancelled"]


async def test_retry_is_a_new_run_of_the_same_event() -> None:
    world = await workshop()
    created = await create(world, "try")
    failed = await world.plugins.next_run()
    refused = await refusal(world, BOARD, "run_retry", target_run_id=created["run_id"])
    assert (refused.code, "running" in refused.message) == ("invalid_argument", True)
    failed.send(failed.failed())
    await world.rest()
    retried = await ask(world, BOARD, "run_retry", target_run_id=created["run_id"])
    assert (retried["attempt"], retried["parent_run_id"]) == (2, created["run_id"])
    assert retried["event_id"] == created["event_id"]
    run = await world.plugins.next_run()
    assert run.run_id == retried["run_id"]
    assert (await refusal(world, BOARD, "run_retry", target_run_id=created["run_id"])).retryable
    run.answer("better")
    await world.rest()
    assert [row["role"] for row in world.rows(TRANSCRIPT)].count("user") == 1
    assert outgoing(world)[-1] == "better"
    assert [(row["outcome"], row["run_id"]) for row in world.rows(OUTCOMES)] == [("answered", run.run_id)]
    third = await ask(world, BOARD, "run_retry", target_run_id=created["run_id"])
    assert third["attempt"] == 3
    (await world.plugins.next_run()).answer("best")
    await world.rest()


async def test_plugin_of_the_runner_appends_results_and_finalizes_its_run() -> None:
    world = await workshop()
    created = await create(world)
    run = await world.plugins.next_run()
    run.send(run.completed("from the stream"))
    await settle()
    data = {"message": {"role": "assistant", "content": "from beside"}}
    result = {"run_id": run.run_id, "type": "message.completed", "data": data, "sequence": 2}
    arguments = {"target_run_id": run.run_id, "result": result}
    for plugin in (BOARD, OTHER):
        assert (await refusal(world, plugin, "run_append_result", **arguments)).code == "not_found"
    await ask(world, PLUGIN, "run_append_result", **arguments)
    taken = {**result, "sequence": 1}
    refused = await refusal(world, PLUGIN, "run_append_result", target_run_id=run.run_id, result=taken)
    assert refused.code == "invalid_argument"
    ended = await ask(world, PLUGIN, "run_finalize", target_run_id=run.run_id, status="completed")
    assert ended["status"] == "completed"
    await world.rest()
    assert outgoing(world) == ["from the stream", "from beside"]
    assert run.aborted is not None
    assert created["run_id"] == run.run_id


async def test_removed_runner_ends_the_waiting_run() -> None:
    world = await workshop()
    first = await create(world, "first")
    run = await world.plugins.next_run()
    later = await create(world, "later", event={"conversation_id": first["conversation_id"]})
    world.core.registry.remove_plugin(PLUGIN)
    run.answer("done")
    await world.rest()
    row = world.rows(RUNS, run_id=later["run_id"])[0]
    assert (row["status"], row["status_reason"]) == ("failed", "runner.unavailable")


async def test_event_of_a_created_run_does_not_steer_another_run() -> None:
    world = await workshop()
    first = await create(world, "first")
    run = await world.plugins.next_run()
    later = await create(world, "later", event={"conversation_id": first["conversation_id"]})
    await asyncio.sleep(1)
    run.answer("done")
    second = await world.plugins.next_run()
    assert second.run_id == later["run_id"]
    second.answer("done too")
    await world.rest()


async def test_plugin_lists_the_runs_it_created() -> None:
    world = await workshop()
    made = [await queue_run(world, text) for text in ("one", "two", "three")]
    first = await ask(world, BOARD, "run_list", limit=2)
    assert [run["run_id"] for run in first["items"]] == [made[2], made[1]]
    rest = await ask(world, BOARD, "run_list", limit=2, cursor=first["next_cursor"])
    assert [run["run_id"] for run in rest["items"]] == [made[0]]
    assert (await ask(world, OTHER, "run_list"))["items"] == []
