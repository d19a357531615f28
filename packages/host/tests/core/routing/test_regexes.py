"""Regular expressions: whatever is written and however many there are, an event costs little and comes out the same."""

from time import thread_time
from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.model import regex_budget
from parlour.core.model.regex_budget import EVENT_BUDGET_SECONDS, MAX_CACHED_EVENTS, RegexMatcher
from parlour.core.routing.router import RouteAttempt

from ..support import World, make_agent, message

SLOW = "(a|aa)+$(?#{})"
"""Never ends on EVIL; the comment makes many of one."""
EVIL = "a" * 2900 + "!"


def said(text: str = EVIL, **fields: Any) -> Any:
    return message(text, surface="platform", **fields)


async def many(*patterns: str) -> World:
    world = await World.open(make_agent())
    await world.core.routes.replace("bot", [Route("*", "drop", filters={"text_regex": each}) for each in patterns])
    return world


def codes(tried: list[RouteAttempt]) -> list[str]:
    return [each.reason.code if each.reason else "takes" for each in tried]


def test_one_that_takes_for_ever_is_cut_off_and_said_so() -> None:
    found = RegexMatcher().mismatch(r"^(a|a)*$", said())
    assert found == "text_regex: it took longer than 0.01 s; write it more simply"


async def test_two_hundred_slow_ones_cost_an_event_no_more_than_its_budget() -> None:
    world = await many(*(SLOW.format(number) for number in range(200)))
    begun = thread_time()
    tried = world.core.router.evaluate(said())
    assert thread_time() - begun < EVENT_BUDGET_SECONDS * 1.5
    assert codes(tried)[0] == "slow_regex"
    assert codes(tried)[-1] == "spent_regex"
    assert "since others took most of the 0.02 s" in str(tried[-1].reason)


async def test_to_route_an_event_again_costs_nothing_and_finds_the_same() -> None:
    world = await many(*(SLOW.format(number) for number in range(200)))
    event = said()
    first = world.core.router.evaluate(event)
    begun = thread_time()
    assert [world.core.router.evaluate(event) for _ in range(3)] == [first] * 3
    assert thread_time() - begun < EVENT_BUDGET_SECONDS / 2


async def test_a_quick_one_is_found_behind_some_slow_ones() -> None:
    world = await many(SLOW.format(1), SLOW.format(2), "!$")
    assert codes(world.core.router.evaluate(said())) == ["slow_regex", "slow_regex", "takes"]


async def test_every_event_has_a_budget_of_its_own() -> None:
    world = await many(*(SLOW.format(number) for number in range(20)), "^hello")
    world.core.router.evaluate(said(event_id="e1"))
    assert codes(world.core.router.evaluate(said("hello", event_id="e2")))[-1] == "takes"
    assert codes(world.core.router.evaluate(said("hello", event_id="e1")))[-1] == "takes"


async def test_an_example_is_tried_anew_each_time() -> None:
    world = await many()
    slow = [Route("*", "drop", filters={"text_regex": SLOW.format(number)}) for number in range(20)]
    world.core.router.evaluate(said(), slow)
    assert codes(world.core.router.evaluate(said(), [Route("*", "drop", filters={"text_regex": "!$"})])) == ["takes"]


def test_only_so_many_events_are_remembered() -> None:
    tried = RegexMatcher()
    for number in range(MAX_CACHED_EVENTS + 5):
        tried.mismatch("x", said("x", event_id=f"e{number}"))
    assert len(tried._budgets) == MAX_CACHED_EVENTS


async def test_the_expressions_of_routes_are_made_before_an_event_needs_them() -> None:
    patterns = [f"word{number}" for number in range(300)]
    world = await many(*patterns)
    missed = regex_budget.compile_pattern.cache_info().misses
    world.core.router.evaluate(said("hello"))
    assert regex_budget.compile_pattern.cache_info().misses == missed


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        (r"\d{4}-\d{2}-\d{2}", ""),
        ("[a-z]{0,1000000}", ""),
        ("(", "not a regular expression"),
        (r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", ""),
        (r"^(?=.{8,64}$)[^(]{1,300}(?:\){2}|[)]{3})$", ""),
        ("a{100000000}", "repeats"),
        ("a{" + "9" * 900 + "}", "repeats"),
        ("(?:(?:a{1000}){1000}){1000}", "repeats"),
        ("(?:" + "a?" * 400 + "){9999}", "repeats"),
        ("(?:" + "[(]a?" * 100 + "){9999}", "repeats"),
        ("(?x)(?:a{ 999 }){ 9 9 9 } # over several lines", "repeats"),
        ("(" * 400 + ")" * 400, "nested too deep"),
    ],
)
def test_an_expression_that_would_cost_too_much_is_refused_before_it_is_compiled(pattern: str, problem: str) -> None:
    told = regex_budget.pattern_problem(pattern)
    assert problem in told
    assert bool(told) == bool(problem)
