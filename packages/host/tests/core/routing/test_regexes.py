"""Regular expressions in routes: the cost per event is limited and results are repeatable."""

from time import thread_time
from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.model import regex_budget
from parlour.core.model.regex_budget import EVENT_BUDGET_SECONDS, MAX_CACHED_EVENTS, RegexMatcher
from parlour.core.routing.router import RouteAttempt

from ..support import World, make_agent, message

SLOW = "(a|aa)+$(?#{})"
"""Takes forever on EVIL; the comment makes patterns distinct."""
EVIL = "a" * 2900 + "!"


def platform_message(text: str = EVIL, **fields: Any) -> Any:
    return message(text, surface="platform", **fields)


async def with_routes(*patterns: str) -> World:
    world = await World.open(make_agent())
    await world.core.routes.replace("bot", [Route("*", "drop", filters={"text_regex": each}) for each in patterns])
    return world


def codes(tried: list[RouteAttempt]) -> list[str]:
    return [each.reason.code if each.reason else "takes" for each in tried]


def test_endless_pattern_is_aborted_with_a_reason() -> None:
    found = RegexMatcher().mismatch(r"^(a|a)*$", platform_message())
    assert found == "text_regex: it took longer than 0.01 s; write it more simply"


async def test_slow_patterns_stay_within_the_budget_of_the_event() -> None:
    world = await with_routes(*(SLOW.format(number) for number in range(200)))
    started = thread_time()
    tried = world.core.router.evaluate(platform_message())
    assert thread_time() - started < EVENT_BUDGET_SECONDS * 1.5
    assert codes(tried)[0] == "slow_regex"
    assert codes(tried)[-1] == "spent_regex"
    assert "since others took most of the 0.02 s" in str(tried[-1].reason)


async def test_repeated_evaluation_is_cached() -> None:
    world = await with_routes(*(SLOW.format(number) for number in range(200)))
    event = platform_message()
    first = world.core.router.evaluate(event)
    started = thread_time()
    assert [world.core.router.evaluate(event) for _ in range(3)] == [first] * 3
    assert thread_time() - started < EVENT_BUDGET_SECONDS / 2


async def test_fast_pattern_is_found_after_slow_ones() -> None:
    world = await with_routes(SLOW.format(1), SLOW.format(2), "!$")
    assert codes(world.core.router.evaluate(platform_message())) == ["slow_regex", "slow_regex", "takes"]


async def test_each_event_has_its_own_budget() -> None:
    world = await with_routes(*(SLOW.format(number) for number in range(20)), "^hello")
    world.core.router.evaluate(platform_message(event_id="e1"))
    assert codes(world.core.router.evaluate(platform_message("hello", event_id="e2")))[-1] == "takes"
    assert codes(world.core.router.evaluate(platform_message("hello", event_id="e1")))[-1] == "takes"


async def test_dry_run_uses_no_cache() -> None:
    world = await with_routes()
    slow = [Route("*", "drop", filters={"text_regex": SLOW.format(number)}) for number in range(20)]
    world.core.router.evaluate(platform_message(), slow)
    assert codes(
        world.core.router.evaluate(platform_message(), [Route("*", "drop", filters={"text_regex": "!$"})])
    ) == ["takes"]


def test_number_of_cached_events_is_limited() -> None:
    tried = RegexMatcher()
    for number in range(MAX_CACHED_EVENTS + 5):
        tried.mismatch("x", platform_message("x", event_id=f"e{number}"))
    assert len(tried._budgets) == MAX_CACHED_EVENTS


async def test_patterns_of_routes_are_compiled_in_advance() -> None:
    patterns = [f"word{number}" for number in range(300)]
    world = await with_routes(*patterns)
    missed = regex_budget.compile_pattern.cache_info().misses
    world.core.router.evaluate(platform_message("hello"))
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
def test_too_expensive_pattern_is_refused_before_compilation(pattern: str, problem: str) -> None:
    found = regex_budget.pattern_problem(pattern)
    assert problem in found
    assert bool(found) == bool(problem)
