"""Which agent serves where several are named: thread, conversation, channel, actor, the bot's route, workspace."""

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

from ..listeners.listening_support import granted, listener
from ..support import BreakableJournal, World, make_agent, message

PLACES = {
    "thread": DefaultScope("thread", bot_id="bot", chat="10001/group:5", thread_id="t"),
    "conversation": DefaultScope("conversation", bot_id="bot", chat="10001/group:5"),
    "channel": DefaultScope("channel", platform="qq", chat="group:5"),
    "actor": DefaultScope("actor", platform="qq", actor_id="ann"),
    "workspace": DefaultScope("workspace"),
}
ORDER = ("thread", "conversation", "channel", "actor", "bot", "workspace")
TO_BOT = Route("*", "agent", {"agent_id": "bot"})


def said(**fields: Any) -> EventEnvelope:
    """By Ann, to the bot, in thread t of group 5."""
    where = {"chat_type": "group", "chat_id": "5", "account": "10001", "mentions_bot": True}
    event = message(surface="platform", source="qq", thread_id="t", **fields)
    return replace(event, data={**where, **event.data})


async def opened(*scopes: str, routes: tuple[Route, ...] = (), **ports: Any) -> World:
    """An agent of each scope, named as it; and where `bot` is among them, a route to it."""
    world = await World.open(make_agent("elsewhere"), **ports)
    await world.core.bots.add(Bot("bot", "Bot", "qq"))
    for scope in ORDER:
        await world.core.agents.add(make_agent(scope))
    for scope in scopes:
        if scope != "bot":
            await world.core.default_agents.add(DefaultAgent(f"default-{scope}", PLACES[scope], scope))
    await world.core.routes.replace("bot", [*routes, *([TO_BOT] if "bot" in scopes else [])])
    return world


def served(decision: RouteDecision) -> str:
    assert isinstance(decision, ToAgent), decision
    return decision.binding.agent.agent_id


@pytest.mark.parametrize(("nearer", "farther"), list(combinations(ORDER, 2)))
async def test_the_more_specific_scope_wins(nearer: str, farther: str) -> None:
    world = await opened(farther, nearer)
    decision = world.core.router.decide(said())
    assert served(decision) == nearer
    assert isinstance(decision, ToAgent)
    assert decision.binding.scope == nearer


@pytest.mark.parametrize("scope", ORDER)
async def test_a_scope_that_alone_names_an_agent_is_enough(scope: str) -> None:
    world = await opened(scope)
    assert served(world.core.router.decide(said())) == scope


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
async def test_a_default_agent_serves_nowhere_else(scope: str, elsewhere: dict[str, Any]) -> None:
    world = await opened(scope)
    event = said()
    event = replace(event, **{**elsewhere, "data": {**event.data, **elsewhere.get("data", {})}})
    assert isinstance(world.core.router.decide(event), ToListeners)


@pytest.mark.parametrize("elsewhere", [{"bot_id": "other"}, {"data": {"account": "10002"}}])
async def test_a_channel_is_the_same_for_every_bot_and_account(elsewhere: dict[str, Any]) -> None:
    world = await opened("channel")
    event = said()
    event = replace(event, **{**elsewhere, "data": {**event.data, **elsewhere.get("data", {})}})
    assert served(world.core.router.decide(event)) == "channel"


async def test_a_conversations_default_serves_all_its_threads() -> None:
    world = await opened("conversation")
    for thread in ("t", "other", ""):
        assert served(world.core.router.decide(replace(said(), thread_id=thread))) == "conversation"


@pytest.mark.parametrize(
    ("route", "kind"),
    [
        (Route("*", "drop"), Drop),
        (Route("*", "webhook", {"url": "https://example.org"}), ToHandler),
        (Route("*", "plugin", {"plugins": ["acme/one"]}), ToListeners),
    ],
)
async def test_a_route_that_asks_no_agent_does_what_it_says(route: Route, kind: type) -> None:
    world = await opened(*PLACES, routes=(route,))
    assert isinstance(world.core.router.decide(said()), kind)


async def test_whom_the_caller_named_serves_whatever_the_defaults_are() -> None:
    world = await opened(*PLACES)
    event = replace(message(), agent_id="elsewhere", data={"chat_type": "group", "chat_id": "5"})
    decision = world.core.router.decide(event)
    assert served(decision) == "elsewhere"
    assert isinstance(decision, ToAgent)
    assert decision.binding.scope == ""


async def test_why_tells_whose_default_it_is_and_what_it_goes_before() -> None:
    world = await opened("bot", "conversation", "workspace")
    decision = world.core.router.decide(said())
    assert isinstance(decision, ToAgent)
    assert decision.binding.reason == ("the default agent of conversation 10001/group:5, which goes before route '*'")
    await world.core.routes.replace("bot", [])
    await world.core.default_agents.remove("default-conversation")
    decision = world.core.router.decide(said())
    assert isinstance(decision, ToAgent)
    assert decision.binding.reason == "the default agent of the workspace, since no route takes message.received"


@pytest.mark.parametrize("scope", PLACES)
async def test_what_no_route_takes_is_left_alone_unless_it_addresses_the_bot(scope: str) -> None:
    world = await opened(scope)
    event = replace(said(), data={"chat_type": "group", "chat_id": "5", "account": "10001"})
    decision = world.core.router.decide(event)
    assert isinstance(decision, ToListeners)
    assert decision.reason.startswith("no route takes message.received; the default agent of ")
    assert decision.reason.endswith(" leaves it: the bot is not addressed")


@pytest.mark.parametrize("scope", PLACES)
async def test_what_a_bot_writes_is_never_taken_without_a_route_that_names_it(scope: str) -> None:
    world = await opened(scope)
    decision = world.core.router.decide(replace(said(), actor=Participant("user", "ann", "", {"is_bot": True})))
    assert isinstance(decision, ToListeners)
    assert decision.reason.endswith("leaves it: a bot wrote it")


async def test_what_else_happens_unrouted_is_taken_only_by_an_agent_that_takes_it() -> None:
    world = await opened("workspace")
    joined = replace(said(), event_type="group.member_joined")
    decision = world.core.router.decide(joined)
    assert isinstance(decision, ToListeners)
    assert decision.reason.endswith("leaves it: it does not take group.member_joined")
    await world.core.agents.replace(make_agent("workspace", event_types=("message.received", "group.member_joined")))
    assert served(world.core.router.decide(joined)) == "workspace"


async def test_what_is_asked_over_the_api_addresses_the_bot_but_is_in_none_of_its_chats() -> None:
    world = await opened(*PLACES)
    event = replace(said(), surface="api", source="api", data={"chat_type": "group", "chat_id": "5"})
    assert served(world.core.router.decide(event)) == "workspace"


async def test_plugins_that_listen_hear_what_no_route_takes_before_any_default_agent() -> None:
    components = ComponentRegistry()
    world = await opened("conversation", "workspace", components=components, plugin_grants=granted)
    components.replace_plugin("acme/ear", "1", [listener("message.*", observe=True)])
    assert served(world.core.router.decide(said())) == "conversation"
    components.replace_plugin("acme/ear", "1", [listener("message.*")])
    decision = world.core.router.decide(said())
    assert isinstance(decision, ToListeners)
    assert decision.reason.endswith("leaves it: plugins listen to it")
    await world.core.routes.replace("bot", [TO_BOT])
    assert served(world.core.router.decide(said())) == "conversation"


@pytest.mark.parametrize("scopes", [("bot", "conversation"), ("conversation",), ("workspace",)])
@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"enabled": False}, "is disabled"),
        ({"event_types": ("friend.added",)}, "takes friend.added, not message.received"),
    ],
)
async def test_a_default_agent_that_can_not_serve_is_a_configuration_error_that_names_it(
    scopes: tuple[str, ...], fields: dict[str, Any], told: str
) -> None:
    world = await opened(*scopes)
    await world.core.agents.replace(make_agent(scopes[-1], **fields))
    decision = world.core.router.decide(said())
    assert isinstance(decision, Misconfigured)
    assert decision.reason.startswith("the default agent of ")
    assert f"agent '{scopes[-1]}' {told}" in decision.reason


class ChangedByHand(BreakableJournal):
    """Reads back every place as one that a second agent claims too."""

    async def read(self, query: Select) -> list[Row]:
        rows = await super().read(query)
        if query.table is DEFAULT_AGENTS:
            rows += [{**row, "default_id": f"{row['default_id']}-2", "agent_id": "elsewhere"} for row in rows]
        return rows


@pytest.mark.parametrize("scopes", [("bot", "conversation"), ("workspace",)])
async def test_two_who_claim_one_place_are_a_configuration_error_that_names_both(scopes: tuple[str, ...]) -> None:
    world = await opened(*scopes, journal=ChangedByHand())
    await world.core.default_agents.load()
    decision = world.core.router.decide(said())
    assert isinstance(decision, Misconfigured)
    assert f"'{scopes[-1]}' and 'elsewhere' both claim to be the default agent of" in decision.reason
    await world.core.default_agents.remove(f"default-{scopes[-1]}")
    assert served(world.core.router.decide(said())) == "elsewhere"


async def test_what_is_set_replaced_and_removed_stays_so_after_a_restart() -> None:
    world = await opened(*PLACES)
    book = world.core.default_agents
    channel = next(each for each in book.all() if each.place.scope == "channel")
    await book.replace(channel, replace(channel, agent_id="elsewhere", updated_at=7))
    await book.remove("default-workspace")
    again = DefaultAgentRepository(world.journal)
    await again.load()
    assert again.all() == book.all()
    assert [each.agent_id for each in again.for_scope(channel.place)] == ["elsewhere"]
    assert again.get("default-workspace") is None


async def test_one_place_is_not_given_twice_and_nothing_is_given_to_who_is_gone() -> None:
    world = await opened("conversation", "actor")
    book, place = world.core.default_agents, PLACES["conversation"]
    listed = book.all()
    with pytest.raises(ScopeTaken):
        await book.add(DefaultAgent("second", place, "elsewhere"))
    gone = [
        (DefaultAgent("third", PLACES["channel"], "ghost"), "agent_id"),
        (DefaultAgent("fourth", DefaultScope("conversation", bot_id="ghost", chat="group:5"), "actor"), "bot_id"),
    ]
    for default, field in gone:
        with pytest.raises(TargetMissing) as refused:
            await book.add(default)
        assert refused.value.field == field
    stale = replace(book.for_scope(place)[0], agent_id="thread")
    with pytest.raises(ScopeTaken):
        await book.replace(stale, replace(stale, agent_id="elsewhere"))
    assert book.all() == listed
    assert len(world.rows(DEFAULT_AGENTS)) == 2


async def test_an_agent_or_bot_that_goes_takes_its_defaults_along() -> None:
    world = await opened(*PLACES)
    await world.core.agents.remove("channel")
    await world.core.bots.remove("bot")
    left = {"default-actor", "default-workspace"}
    assert {each.default_id for each in world.core.default_agents.all()} == left
    assert {row["default_id"] for row in world.rows(DEFAULT_AGENTS)} == left


async def test_a_message_is_answered_by_its_conversations_default_and_one_that_is_off_is_on_its_trail() -> None:
    world = await opened("bot", "conversation")
    await world.core.gateway.ingest(said())
    run = await world.plugins.next_run()
    run.answer("yes")
    await world.rest()
    assert [row["agent_id"] for row in world.rows(RUNS)] == ["conversation"]
    await world.core.agents.replace(make_agent("conversation", enabled=False))
    await world.core.gateway.ingest(said())
    await world.rest()
    told = world.rows(OUTCOMES)[-1]
    assert told["outcome"] == "misconfigured"
    assert "the default agent of conversation 10001/group:5" in told["reason"]
    assert "agent 'conversation' is disabled" in told["reason"]
