"""The agent that serves an event if several scopes have one: thread, conversation, channel, actor, bot, workspace."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from parlour.core.config.bots import Bot
from parlour.core.config.default_agents import DefaultAgent, DefaultAgentRepository, ScopeTaken, TargetMissing
from parlour.core.config.routes import Route
from parlour.core.journal import Row, Select
from parlour.core.model.default_scope import DefaultScope
from parlour.core.model.event import EventEnvelope, Participant
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.routing.decisions import Drop, Misconfigured, RouteDecision, ToAgent, ToHandler, ToListeners
from parlour.core.store.tables import DEFAULT_AGENTS, OUTCOMES, RUNS

from ..plugin_hooks.listener_support import granted, listener
from ..support import BreakableJournal, World, make_agent, message

SCOPES = {
    "thread": DefaultScope("thread", bot_id="bot", chat="10001/group:5", thread_id="t"),
    "conversation": DefaultScope("conversation", bot_id="bot", chat="10001/group:5"),
    "channel": DefaultScope("channel", platform="qq", chat="group:5"),
    "actor": DefaultScope("actor", platform="qq", actor_id="ann"),
    "workspace": DefaultScope("workspace"),
}
ORDER = ("thread", "conversation", "channel", "actor", "bot", "workspace")
TO_BOT = Route("*", "agent", {"agent_id": "bot"})


def platform_message(**fields: Any) -> EventEnvelope:
    """Builds a message of Ann to the bot in thread t of group 5."""
    where = {"chat_type": "group", "chat_id": "5", "account": "10001", "mentions_bot": True}
    event = message(surface="platform", source="qq", thread_id="t", **fields)
    return replace(event, data={**where, **event.data})


async def open_world(*scopes: str, routes: tuple[Route, ...] = (), **ports: Any) -> World:
    """Opens a world with an agent per scope, and a route if `bot` is among the scopes."""
    world = await World.open(make_agent("elsewhere"), **ports)
    await world.core.bots.add(Bot("bot", "Bot", "qq"))
    for scope in ORDER:
        await world.core.agents.add(make_agent(scope))
    for scope in scopes:
        if scope != "bot":
            await world.core.default_agents.add(DefaultAgent(f"default-{scope}", SCOPES[scope], scope))
    await world.core.routes.replace("bot", [*routes, *([TO_BOT] if "bot" in scopes else [])])
    return world


def serving_agent(decision: RouteDecision) -> str:
    assert isinstance(decision, ToAgent), decision
    return decision.binding.agent.agent_id


@pytest.mark.parametrize(("nearer", "farther"), list(combinations(ORDER, 2)))
async def test_the_more_specific_scope_wins(nearer: str, farther: str) -> None:
    world = await open_world(farther, nearer)
    decision = world.core.router.decide(platform_message())
    assert serving_agent(decision) == nearer
    assert isinstance(decision, ToAgent)
    assert decision.binding.scope == nearer


@pytest.mark.parametrize("scope", ORDER)
async def test_default_agent_of_any_single_scope_serves(scope: str) -> None:
    world = await open_world(scope)
    assert serving_agent(world.core.router.decide(platform_message())) == scope


@pytest.mark.parametrize(
    ("scope", "elsewhere"),
    [
        ("thread", {"thread_id": "other"}),
        ("thread", {"thread_id": ""}),
        ("thread", {"bot_id": "other"}),
        ("conversation", {"data": {"chat_id": "6"}}),
        ("conversation", {"data": {"chat_type": "private"}}),
        ("conversation", {"data": {"account": "10002"}}),
        ("conversation", {"bot_id": "other"}),
        ("channel", {"source": "telegram"}),
        ("channel", {"data": {"chat_id": "6"}}),
        ("actor", {"source": "telegram"}),
        ("actor", {"actor": Participant("user", "bob")}),
        ("actor", {"actor": Participant()}),
    ],
)
async def test_default_agent_serves_only_its_scope(scope: str, elsewhere: dict[str, Any]) -> None:
    world = await open_world(scope)
    event = platform_message()
    event = replace(event, **{**elsewhere, "data": {**event.data, **elsewhere.get("data", {})}})
    assert isinstance(world.core.router.decide(event), ToListeners)


@pytest.mark.parametrize("elsewhere", [{"bot_id": "other"}, {"data": {"account": "10002"}}])
async def test_channel_is_shared_by_all_bots_and_accounts(elsewhere: dict[str, Any]) -> None:
    world = await open_world("channel")
    event = platform_message()
    event = replace(event, **{**elsewhere, "data": {**event.data, **elsewhere.get("data", {})}})
    assert serving_agent(world.core.router.decide(event)) == "channel"


async def test_conversation_default_serves_all_its_threads() -> None:
    world = await open_world("conversation")
    for thread in ("t", "other", ""):
        assert serving_agent(world.core.router.decide(replace(platform_message(), thread_id=thread))) == "conversation"


@pytest.mark.parametrize(
    ("route", "kind"),
    [
        (Route("*", "drop"), Drop),
        (Route("*", "webhook", {"url": "https://example.org"}), ToHandler),
        (Route("*", "plugin", {"plugins": ["acme/one"]}), ToListeners),
    ],
)
async def test_route_without_an_agent_overrides_default_agents(route: Route, kind: type) -> None:
    world = await open_world(*SCOPES, routes=(route,))
    assert isinstance(world.core.router.decide(platform_message()), kind)


async def test_agent_named_by_the_caller_overrides_default_agents() -> None:
    world = await open_world(*SCOPES)
    event = replace(message(), agent_id="elsewhere", data={"chat_type": "group", "chat_id": "5"})
    decision = world.core.router.decide(event)
    assert serving_agent(decision) == "elsewhere"
    assert isinstance(decision, ToAgent)
    assert decision.binding.scope == ""


async def test_reason_names_the_default_scope_and_the_overridden_route() -> None:
    world = await open_world("bot", "conversation", "workspace")
    decision = world.core.router.decide(platform_message())
    assert isinstance(decision, ToAgent)
    assert decision.binding.reason == ("the default agent of conversation 10001/group:5, which goes before route '*'")
    await world.core.routes.replace("bot", [])
    await world.core.default_agents.remove("default-conversation")
    decision = world.core.router.decide(platform_message())
    assert isinstance(decision, ToAgent)
    assert decision.binding.reason == "the default agent of the workspace, since no route takes message.received"


@pytest.mark.parametrize("scope", SCOPES)
async def test_unaddressed_message_without_a_route_is_ignored(scope: str) -> None:
    world = await open_world(scope)
    event = replace(platform_message(), data={"chat_type": "group", "chat_id": "5", "account": "10001"})
    decision = world.core.router.decide(event)
    assert isinstance(decision, ToListeners)
    assert decision.reason.startswith("no route takes message.received; the default agent of ")
    assert decision.reason.endswith(" leaves it: the bot is not addressed")


@pytest.mark.parametrize("scope", SCOPES)
async def test_message_of_a_bot_without_a_route_is_ignored(scope: str) -> None:
    world = await open_world(scope)
    decision = world.core.router.decide(
        replace(platform_message(), actor=Participant("user", "ann", "", {"is_bot": True}))
    )
    assert isinstance(decision, ToListeners)
    assert decision.reason.endswith("leaves it: a bot wrote it")


async def test_other_event_types_need_an_agent_that_takes_them() -> None:
    world = await open_world("workspace")
    joined = replace(platform_message(), event_type="group.member_joined")
    decision = world.core.router.decide(joined)
    assert isinstance(decision, ToListeners)
    assert decision.reason.endswith("leaves it: it does not take group.member_joined")
    await world.core.agents.replace(make_agent("workspace", event_types=("message.received", "group.member_joined")))
    assert serving_agent(world.core.router.decide(joined)) == "workspace"


async def test_api_message_uses_only_the_workspace_default() -> None:
    world = await open_world(*SCOPES)
    event = replace(platform_message(), surface="api", source="api", data={"chat_type": "group", "chat_id": "5"})
    assert serving_agent(world.core.router.decide(event)) == "workspace"


async def test_listeners_take_unrouted_events_before_default_agents() -> None:
    components = ComponentRegistry()
    world = await open_world("conversation", "workspace", components=components, plugin_grants=granted)
    components.replace_plugin("acme/ear", "1", [listener("message.*", observe=True)])
    assert serving_agent(world.core.router.decide(platform_message())) == "conversation"
    components.replace_plugin("acme/ear", "1", [listener("message.*")])
    decision = world.core.router.decide(platform_message())
    assert isinstance(decision, ToListeners)
    assert decision.reason.endswith("leaves it: plugins listen to it")
    await world.core.routes.replace("bot", [TO_BOT])
    assert serving_agent(world.core.router.decide(platform_message())) == "conversation"


@pytest.mark.parametrize("scopes", [("bot", "conversation"), ("conversation",), ("workspace",)])
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"enabled": False}, "is disabled"),
        ({"event_types": ("friend.added",)}, "takes friend.added, not message.received"),
    ],
)
async def test_default_agent_that_cannot_serve_is_misconfigured(
    scopes: tuple[str, ...], fields: dict[str, Any], reason: str
) -> None:
    world = await open_world(*scopes)
    await world.core.agents.replace(make_agent(scopes[-1], **fields))
    decision = world.core.router.decide(platform_message())
    assert isinstance(decision, Misconfigured)
    assert decision.reason.startswith("the default agent of ")
    assert f"agent '{scopes[-1]}' {reason}" in decision.reason


class DuplicatedDefaults(BreakableJournal):
    """A journal that reads every scope twice, with a second agent."""

    async def read(self, query: Select) -> list[Row]:
        rows = await super().read(query)
        if query.table is DEFAULT_AGENTS:
            rows += [{**row, "default_id": f"{row['default_id']}-2", "agent_id": "elsewhere"} for row in rows]
        return rows


@pytest.mark.parametrize("scopes", [("bot", "conversation"), ("workspace",)])
async def test_duplicate_default_agents_are_misconfigured(scopes: tuple[str, ...]) -> None:
    world = await open_world(*scopes, journal=DuplicatedDefaults())
    await world.core.default_agents.load()
    decision = world.core.router.decide(platform_message())
    assert isinstance(decision, Misconfigured)
    assert f"'{scopes[-1]}' and 'elsewhere' both claim to be the default agent of" in decision.reason
    await world.core.default_agents.remove(f"default-{scopes[-1]}")
    assert serving_agent(world.core.router.decide(platform_message())) == "elsewhere"


async def test_default_agents_are_read_back_after_a_restart() -> None:
    world = await open_world(*SCOPES)
    repository = world.core.default_agents
    channel = next(each for each in repository.all() if each.place.scope == "channel")
    await repository.replace(channel, replace(channel, agent_id="elsewhere", updated_at=7))
    await repository.remove("default-workspace")
    again = DefaultAgentRepository(world.journal)
    await again.load()
    assert again.all() == repository.all()
    assert [each.agent_id for each in again.for_scope(channel.place)] == ["elsewhere"]
    assert again.get("default-workspace") is None


async def test_taken_scope_and_missing_target_are_refused() -> None:
    world = await open_world("conversation", "actor")
    repository, place = world.core.default_agents, SCOPES["conversation"]
    listed = repository.all()
    with pytest.raises(ScopeTaken):
        await repository.add(DefaultAgent("second", place, "elsewhere"))
    gone = [
        (DefaultAgent("third", SCOPES["channel"], "ghost"), "agent_id"),
        (DefaultAgent("fourth", DefaultScope("conversation", bot_id="ghost", chat="group:5"), "actor"), "bot_id"),
    ]
    for default, field in gone:
        with pytest.raises(TargetMissing) as refused:
            await repository.add(default)
        assert refused.value.field == field
    stale = replace(repository.for_scope(place)[0], agent_id="thread")
    with pytest.raises(ScopeTaken):
        await repository.replace(stale, replace(stale, agent_id="elsewhere"))
    assert repository.all() == listed
    assert len(world.rows(DEFAULT_AGENTS)) == 2


async def test_removed_agent_or_bot_removes_its_defaults() -> None:
    world = await open_world(*SCOPES)
    await world.core.agents.remove("channel")
    await world.core.bots.remove("bot")
    left = {"default-actor", "default-workspace"}
    assert {each.default_id for each in world.core.default_agents.all()} == left
    assert {row["default_id"] for row in world.rows(DEFAULT_AGENTS)} == left


async def test_message_is_answered_by_the_conversation_default_or_misconfigured() -> None:
    world = await open_world("bot", "conversation")
    await world.core.gateway.ingest(platform_message())
    run = await world.plugins.next_run()
    run.answer("yes")
    await world.rest()
    assert [row["agent_id"] for row in world.rows(RUNS)] == ["conversation"]
    await world.core.agents.replace(make_agent("conversation", enabled=False))
    await world.core.gateway.ingest(platform_message())
    await world.rest()
    reason = world.rows(OUTCOMES)[-1]
    assert reason["outcome"] == "misconfigured"
    assert "the default agent of conversation 10001/group:5" in reason["reason"]
    assert "agent 'conversation' is disabled" in reason["reason"]
