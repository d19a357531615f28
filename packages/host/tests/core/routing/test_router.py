"""Which handler takes an event: priority, then the more specific pattern, then the list's own order."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.core.config.routes import Route, RouteRepository, first_routes
from parlour.core.model.event import Participant
from parlour.core.routing.decisions import Drop, Misconfigured, RouteDecision, ToAgent, ToHandler, ToListeners
from parlour.testing import MemoryJournal

from ..support import CountedIds, World, make_agent, message


async def decide(*routes: Route, event_type: str = "message.received", **agent: Any) -> RouteDecision:
    world = await World.open(make_agent("a", **agent))
    await world.core.agents.add(make_agent("b", event_types=("*",)))
    await world.core.routes.replace("bot", list(routes))
    return world.core.router.decide(message(surface="platform", event_type=event_type))


def to(agent: str, pattern: str = "message.received", **fields: Any) -> Route:
    return Route(pattern, "agent", {"agent_id": agent}, **fields)


def chosen(decision: RouteDecision) -> str:
    assert isinstance(decision, ToAgent), decision
    return decision.binding.agent.agent_id


async def test_the_higher_priority_wins_over_the_more_specific_pattern() -> None:
    assert chosen(await decide(to("a"), to("b", "*", priority=1))) == "b"


@pytest.mark.parametrize("patterns", [("message.*", "message.received"), ("*", "message.*"), ("*", "message.received")])
async def test_at_one_priority_the_more_specific_pattern_wins(patterns: tuple[str, str]) -> None:
    general, specific = patterns
    assert chosen(await decide(to("b", general), to("a", specific))) == "a"


async def test_of_equals_the_first_in_the_list_wins() -> None:
    assert chosen(await decide(to("a"), to("b"))) == "a"
    assert chosen(await decide(to("b"), to("a"))) == "b"


async def test_a_route_that_drops_ends_the_search() -> None:
    decision = await decide(Route("message.*", "drop", priority=5), to("a"))
    assert decision == Drop("route 'message.*' drops it")


@pytest.mark.parametrize("pattern", ["message.*", "message.deleted", "message.recalled", "*"])
async def test_an_agent_takes_what_its_patterns_cover(pattern: str) -> None:
    decision = await decide(to("a", "*"), event_type="message.deleted", event_types=("group.*", pattern))
    assert chosen(decision) == "a"


async def test_an_agent_does_not_take_what_its_patterns_do_not_cover() -> None:
    decision = await decide(to("a", "*"), event_type="message.deleted", event_types=("group.*", "message"))
    assert isinstance(decision, Misconfigured)
    assert "takes group.*, message, not message.deleted" in decision.reason


async def test_a_disabled_route_is_passed_over() -> None:
    assert chosen(await decide(to("b", priority=9, enabled=False), to("a"))) == "a"


async def test_an_event_that_no_route_takes_goes_to_whoever_listens() -> None:
    assert await decide(to("a"), event_type="group.joined") == ToListeners((), "no route takes group.joined")


@pytest.mark.parametrize(
    ("pattern", "event_type", "matches"),
    [
        ("*", "anything.at.all", True),
        ("message.*", "message.received", True),
        ("message.*", "messages.received", False),
        ("message.*", "message", False),
        ("message.received", "message.received", True),
        ("message.received", "message.received.late", False),
        ("message", "message.received", False),
        ("message.recalled", "message.deleted", True),
        ("message.recalled", "message.received", False),
        ("platform.onebot11.*", "platform.onebot11.poke", True),
    ],
)
def test_a_pattern_is_exact_a_namespace_or_everything(pattern: str, event_type: str, matches: bool) -> None:
    assert Route(pattern, "drop").matches(event_type) == matches


async def test_a_disabled_agent_is_a_configuration_error_that_names_it() -> None:
    decision = await decide(to("a"), enabled=False)
    assert isinstance(decision, Misconfigured)
    assert "'a' is disabled" in decision.reason


async def test_an_agent_that_does_not_exist_is_a_configuration_error() -> None:
    decision = await decide(to("ghost"))
    assert isinstance(decision, Misconfigured)
    assert "'ghost' does not exist" in decision.reason


async def test_an_event_type_that_the_agent_does_not_take_is_a_configuration_error() -> None:
    decision = await decide(to("a", "*"), event_type="group.joined")
    assert isinstance(decision, Misconfigured)
    assert "takes message.received, not group.joined" in decision.reason


async def test_an_agent_that_takes_everything_takes_it() -> None:
    assert chosen(await decide(to("b", "*"), event_type="group.joined")) == "b"


async def test_an_agent_that_the_caller_named_needs_no_route() -> None:
    world = await World.open(make_agent("a"))
    event = replace(message(), agent_id="a", bot_id="")
    assert chosen(world.core.router.decide(event)) == "a"


async def test_a_bots_routes_are_its_own() -> None:
    world = await World.open()
    event = message(surface="platform", bot_id="stranger")
    assert world.core.router.decide(event) == ToListeners((), "no route takes message.received")


async def test_routes_are_read_back_as_they_were_written_in_their_order() -> None:
    journal = MemoryJournal()
    routes = [to("a", priority=3, description="x"), Route("*", "drop", enabled=False), to("b")]
    named = await RouteRepository(journal, CountedIds()).replace("bot", routes)
    book = RouteRepository(journal, CountedIds())
    await book.load()
    assert book.in_user_order("bot") == named
    assert book.in_match_order("bot") == [named[0], named[2], named[1]]


async def test_replacing_routes_leaves_other_bots_alone() -> None:
    book = RouteRepository(MemoryJournal(), CountedIds())
    await book.replace("one", [to("a")])
    [kept] = await book.replace("two", [to("b")])
    await book.replace("one", [])
    assert book.in_match_order("one") == []
    assert book.in_match_order("two") == [kept]


def _kind(pattern: str) -> int:
    return 0 if pattern == "*" else 1 if pattern.endswith("*") else 2


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["*", "message.*", "message.received"]), st.integers(-2, 2)), max_size=12))
def test_routes_are_tried_by_priority_then_pattern_then_the_lists_own_order(listed: list[tuple[str, int]]) -> None:
    book = RouteRepository(MemoryJournal(), CountedIds())
    book.cache("bot", book.with_ids(Route(pattern, "drop", priority=number) for pattern, number in listed))
    places = {route.route_id: place for place, route in enumerate(book.in_user_order("bot"))}
    keys = [(-each.priority, -_kind(each.event_type), places[each.route_id]) for each in book.in_match_order("bot")]
    assert keys == sorted(keys)
    assert len(keys) == len(listed)


async def test_filters_that_do_not_hold_let_the_next_route_have_it_and_are_told() -> None:
    decision = await decide(to("a", filters={"chat_type": "group"}, description="groups"), to("b", "message.*"))
    assert chosen(decision) == "b"
    assert isinstance(decision, ToAgent)
    assert decision.binding.reason == (
        "route 'message.*', after route 'message.received' (groups): chat_type: it has no chat"
    )


async def test_of_many_routes_that_did_not_take_it_only_some_are_kept_with_the_event() -> None:
    commands = [to("a", filters={"text_prefix": f"/{number}"}, description=f"{number}") for number in range(400)]
    decision = await decide(*commands, to("b", "message.*"))
    assert isinstance(decision, ToAgent)
    assert decision.binding.reason.endswith("; 390 more that did not take it; a dry run tells why")
    assert len(decision.binding.reason) < 1000


async def test_what_a_bot_writes_is_taken_only_by_a_route_that_names_that_bot() -> None:
    world = await World.open(make_agent("a"))
    await world.core.routes.replace("bot", [to("a")])
    event = replace(message(surface="platform"), actor=Participant("user", "other-bot", "", {"is_bot": True}))
    decision = world.core.router.decide(event)
    assert isinstance(decision, ToListeners)
    assert "no route takes message.received by a bot" in decision.reason
    await world.core.routes.replace("bot", [to("a", filters={"users": ["other-bot"]})])
    assert chosen(world.core.router.decide(event)) == "a"


async def test_a_route_to_plugins_or_to_an_address_is_decided_as_such() -> None:
    config = {"url": "https://example.org"}
    hooked = await decide(Route("message.*", "webhook", config))
    assert isinstance(hooked, ToHandler)
    assert hooked.route.handler_config == config
    assert await decide(Route("*", "plugin", {"plugins": ["acme/one"]})) == ToListeners(
        ("acme/one",), "route '*'", True
    )


def test_a_new_bot_is_answered_for_by_the_oldest_agent_that_is_enabled_and_takes_messages() -> None:
    agents = [make_agent("off", enabled=False), make_agent("deaf", event_types=("friend.added",)), make_agent("on")]
    [route] = first_routes(agents)
    assert (route.handler_config, route.filters) == ({"agent_id": "on"}, {"mentions_bot": True})
    assert first_routes(agents[:2]) == []
