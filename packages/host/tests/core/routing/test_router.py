"""Route selection: by priority, then specificity of the pattern, then order in the list."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.core.config.routes import Route, RouteRepository, first_routes
from parlour.core.model.event import Participant
from parlour.core.observability.explain.explanations import Explanations
from parlour.core.routing.decisions import Drop, Misconfigured, RouteDecision, ToAgent, ToHandler, ToListeners
from parlour.core.store.tables import EVENTS
from parlour.core.system import SystemClock
from parlour.testing import MemoryJournal

from ..support import CountedIds, World, make_agent, message


async def decide(*routes: Route, event_type: str = "message.received", **agent: Any) -> RouteDecision:
    world = await World.open(make_agent("a", **agent))
    await world.core.agents.add(make_agent("b", event_types=("*",)))
    await world.core.routes.replace("bot", list(routes))
    return world.core.router.decide(message(surface="platform", event_type=event_type))


def to(agent: str, pattern: str = "message.received", **fields: Any) -> Route:
    return Route(pattern, "agent", {"agent_id": agent}, **fields)


def chosen_agent(decision: RouteDecision) -> str:
    assert isinstance(decision, ToAgent), decision
    return decision.binding.agent.agent_id


async def test_higher_priority_wins_over_specificity() -> None:
    assert chosen_agent(await decide(to("a"), to("b", "*", priority=1))) == "b"


@pytest.mark.parametrize("patterns", [("message.*", "message.received"), ("*", "message.*"), ("*", "message.received")])
async def test_more_specific_pattern_wins_at_equal_priority(patterns: tuple[str, str]) -> None:
    general, specific = patterns
    assert chosen_agent(await decide(to("b", general), to("a", specific))) == "a"


async def test_first_of_equal_routes_wins() -> None:
    assert chosen_agent(await decide(to("a"), to("b"))) == "a"
    assert chosen_agent(await decide(to("b"), to("a"))) == "b"


async def test_drop_route_ends_the_search() -> None:
    decision = await decide(Route("message.*", "drop", priority=5), to("a"))
    assert decision == Drop("route 'message.*' drops it")


@pytest.mark.parametrize("pattern", ["message.*", "message.deleted", "message.recalled", "*"])
async def test_agent_takes_events_of_its_patterns(pattern: str) -> None:
    decision = await decide(to("a", "*"), event_type="message.deleted", event_types=("group.*", pattern))
    assert chosen_agent(decision) == "a"


async def test_agent_refuses_events_outside_its_patterns() -> None:
    decision = await decide(to("a", "*"), event_type="message.deleted", event_types=("group.*", "message"))
    assert isinstance(decision, Misconfigured)
    assert "takes group.*, message, not message.deleted" in decision.reason


async def test_disabled_route_is_skipped() -> None:
    assert chosen_agent(await decide(to("b", priority=9, enabled=False), to("a"))) == "a"


@pytest.mark.parametrize("following", [[], [to("a")]])
async def test_a_route_of_an_unknown_handler_type_is_passed_over_and_reported(following: list[Route]) -> None:
    world = await World.open(make_agent("a"), echo=True)
    await world.core.routes.replace("bot", [Route("*", "future", priority=9), *following])
    await world.say("hi", surface="platform")
    await world.rest()

    [event] = world.rows(EVENTS)
    steps = (await Explanations(world.journal, SystemClock()).explain(event)).steps
    trail = " ".join(step.text for step in steps)
    assert "after route '*': handler type future is unknown to this version" in trail
    assert len(world.plugins.runs) == len(following)


async def test_unrouted_event_goes_to_listeners() -> None:
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
def test_pattern_matches_exactly_by_namespace_or_everything(pattern: str, event_type: str, matches: bool) -> None:
    assert Route(pattern, "drop").matches(event_type) == matches


async def test_disabled_agent_is_misconfigured() -> None:
    decision = await decide(to("a"), enabled=False)
    assert isinstance(decision, Misconfigured)
    assert "'a' is disabled" in decision.reason


async def test_missing_agent_is_misconfigured() -> None:
    decision = await decide(to("ghost"))
    assert isinstance(decision, Misconfigured)
    assert "'ghost' does not exist" in decision.reason


async def test_event_type_outside_the_agent_is_misconfigured() -> None:
    decision = await decide(to("a", "*"), event_type="group.joined")
    assert isinstance(decision, Misconfigured)
    assert "takes message.received, not group.joined" in decision.reason


async def test_wildcard_agent_takes_any_event() -> None:
    assert chosen_agent(await decide(to("b", "*"), event_type="group.joined")) == "b"


async def test_agent_named_by_the_caller_needs_no_route() -> None:
    world = await World.open(make_agent("a"))
    event = replace(message(), agent_id="a", bot_id="")
    assert chosen_agent(world.core.router.decide(event)) == "a"


async def test_routes_are_separate_per_bot() -> None:
    world = await World.open()
    event = message(surface="platform", bot_id="stranger")
    assert world.core.router.decide(event) == ToListeners((), "no route takes message.received")


async def test_routes_are_read_back_in_order() -> None:
    journal = MemoryJournal()
    routes = [to("a", priority=3, description="x"), Route("*", "drop", enabled=False), to("b")]
    named = await RouteRepository(journal, CountedIds()).replace("bot", routes)
    repository = RouteRepository(journal, CountedIds())
    await repository.load()
    assert repository.in_user_order("bot") == named
    assert repository.in_match_order("bot") == [named[0], named[2], named[1]]


async def test_replacing_routes_keeps_those_of_other_bots() -> None:
    repository = RouteRepository(MemoryJournal(), CountedIds())
    await repository.replace("one", [to("a")])
    [stored] = await repository.replace("two", [to("b")])
    await repository.replace("one", [])
    assert repository.in_match_order("one") == []
    assert repository.in_match_order("two") == [stored]


def _kind(pattern: str) -> int:
    return 0 if pattern == "*" else 1 if pattern.endswith("*") else 2


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["*", "message.*", "message.received"]), st.integers(-2, 2)), max_size=12))
def test_routes_are_sorted_by_priority_pattern_and_list_order(listed: list[tuple[str, int]]) -> None:
    repository = RouteRepository(MemoryJournal(), CountedIds())
    repository.cache("bot", repository.with_ids(Route(pattern, "drop", priority=number) for pattern, number in listed))
    places = {route.route_id: place for place, route in enumerate(repository.in_user_order("bot"))}
    keys = [
        (-each.priority, -_kind(each.event_type), places[each.route_id]) for each in repository.in_match_order("bot")
    ]
    assert keys == sorted(keys)
    assert len(keys) == len(listed)


async def test_mismatching_filter_passes_to_the_next_route_with_a_reason() -> None:
    decision = await decide(to("a", filters={"chat_type": "group"}, description="groups"), to("b", "message.*"))
    assert chosen_agent(decision) == "b"
    assert isinstance(decision, ToAgent)
    assert decision.binding.reason == (
        "route 'message.*', after route 'message.received' (groups): chat_type: it has no chat"
    )


async def test_number_of_recorded_mismatches_is_limited() -> None:
    commands = [to("a", filters={"text_prefix": f"/{number}"}, description=f"{number}") for number in range(400)]
    decision = await decide(*commands, to("b", "message.*"))
    assert isinstance(decision, ToAgent)
    assert decision.binding.reason.endswith("; 390 more that did not take it; a dry run tells why")
    assert len(decision.binding.reason) < 1000


async def test_message_of_a_bot_needs_a_route_that_names_it() -> None:
    world = await World.open(make_agent("a"))
    await world.core.routes.replace("bot", [to("a")])
    event = replace(message(surface="platform"), actor=Participant("user", "other-bot", "", {"is_bot": True}))
    decision = world.core.router.decide(event)
    assert isinstance(decision, ToListeners)
    assert "no route takes message.received by a bot" in decision.reason
    await world.core.routes.replace("bot", [to("a", filters={"users": ["other-bot"]})])
    assert chosen_agent(world.core.router.decide(event)) == "a"


async def test_routes_to_plugins_and_webhooks_are_decided_as_such() -> None:
    config = {"url": "https://example.org"}
    hooked = await decide(Route("message.*", "webhook", config))
    assert isinstance(hooked, ToHandler)
    assert hooked.route.handler_config == config
    assert await decide(Route("*", "plugin", {"plugins": ["acme/one"]})) == ToListeners(
        ("acme/one",), "route '*'", True
    )


def test_new_bot_gets_a_route_to_the_oldest_suitable_agent() -> None:
    agents = [make_agent("off", enabled=False), make_agent("deaf", event_types=("friend.added",)), make_agent("on")]
    [route] = first_routes(agents)
    assert (route.handler_config, route.filters) == ({"agent_id": "on"}, {"mentions_bot": True})
    assert first_routes(agents[:2]) == []
