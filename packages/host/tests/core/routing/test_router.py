"""Which handler takes an event: priority, then the more specific pattern, then the list's own order."""

from dataclasses import replace
from typing import Any

import pytest

from parlour.core.routing.router import Bound, Decision, Dropped, Misconfigured, Router
from parlour.core.routing.routes import Route, RouteBook
from parlour.testing import MemoryJournal

from ..support import CountedIds, World, make_agent, message


async def decide(*routes: Route, event_type: str = "message.received", **agent: Any) -> Decision:
    world = await World.open(make_agent("a", **agent))
    await world.core.agents.add(make_agent("b", event_types=("*",)))
    await world.core.routes.replace("bot", list(routes))
    return Router(world.core.routes, world.core.agents).decide(message(surface="platform", event_type=event_type))


def to(agent: str, pattern: str = "message.received", **fields: Any) -> Route:
    return Route(pattern, "agent", {"agent_id": agent}, **fields)


def chosen(decision: Decision) -> str:
    assert isinstance(decision, Bound), decision
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
    assert decision == Dropped("route 'message.*' drops it")


async def test_a_disabled_route_is_passed_over() -> None:
    assert chosen(await decide(to("b", priority=9, enabled=False), to("a"))) == "a"


async def test_an_event_that_nothing_matches_is_dropped_with_a_reason() -> None:
    assert await decide(to("a"), event_type="group.joined") == Dropped("no route takes group.joined")


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
    assert chosen(Router(world.core.routes, world.core.agents).decide(event)) == "a"


async def test_a_bots_routes_are_its_own() -> None:
    world = await World.open()
    event = message(surface="platform", bot_id="stranger")
    assert isinstance(Router(world.core.routes, world.core.agents).decide(event), Dropped)


async def test_routes_are_read_back_as_they_were_written_in_their_order() -> None:
    journal = MemoryJournal()
    routes = [to("a", priority=3, description="x"), Route("*", "drop", enabled=False), to("b")]
    await RouteBook(journal, CountedIds()).replace("bot", routes)
    book = RouteBook(journal, CountedIds())
    await book.load()
    assert book.of("bot") == [routes[0], routes[2], routes[1]]


async def test_replacing_routes_leaves_other_bots_alone() -> None:
    book = RouteBook(MemoryJournal(), CountedIds())
    await book.replace("one", [to("a")])
    await book.replace("two", [to("b")])
    await book.replace("one", [])
    assert book.of("one") == []
    assert book.of("two") == [to("b")]
