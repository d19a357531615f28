"""Filters match what they name and nothing else, and deterministically for the same event."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.core.config.routes import Route
from parlour.core.model.event import EventEnvelope, Participant
from parlour.core.model.regex_budget import RegexMatcher
from parlour.core.routing import filters
from parlour.core.routing.time_windows import DAYS, is_within

from ..support import EPOCH, World, make_agent, message


def mismatch(wanted: dict[str, Any], event: EventEnvelope, now: int = EPOCH) -> Any:
    return filters.first_mismatch(wanted, event, now, RegexMatcher())


def holds(name: str, value: Any, text: str = "hello", **fields: Any) -> bool:
    return not mismatch({name: value}, message(text, surface="platform", **fields))


GROUP = {"chat_type": "group", "chat_id": "g1"}
PRIVATE = {"chat_type": "private", "chat_id": "ann"}


@pytest.mark.parametrize(
    ("name", "value", "fields", "expected"),
    [
        ("chat_type", "group", {"data": GROUP}, True),
        ("chat_type", "group", {"data": PRIVATE}, False),
        ("chat_type", "group", {}, False),
        ("groups", ["g1", "g2"], {"data": GROUP}, True),
        ("groups", ["g2"], {"data": GROUP}, False),
        ("groups", ["ann"], {"data": PRIVATE}, False),
        ("groups", ["g3"], {"data": {"group": {"id": "g3"}}}, True),
        ("users", ["ann"], {}, True),
        ("users", ["bob"], {}, False),
        ("mentions_bot", True, {"data": {**GROUP, "mentions_bot": True}}, True),
        ("mentions_bot", True, {"data": GROUP}, False),
        ("mentions_bot", True, {"data": PRIVATE}, True),
        ("mentions_bot", False, {"data": GROUP}, True),
        ("mentions_bot", False, {"data": PRIVATE}, False),
        ("text_prefix", "/ask", {"text": "  /ask me"}, True),
        ("text_prefix", " /ask", {"text": "/ask me"}, True),
        ("text_prefix", ["!", "/"], {"text": "/x"}, True),
        ("text_prefix", "/ask", {"text": "please /ask"}, False),
        ("text_keyword", "HELP", {"text": "i need help now"}, True),
        ("text_keyword", ["a", "帮助"], {"text": "请求帮助"}, True),
        ("text_keyword", "help", {"text": ""}, False),
        ("text_regex", r"^\d+$", {"text": "123"}, True),
        ("text_regex", r"^\d+$", {"text": "12a"}, False),
        ("data", {"sender.nickname": "Ann"}, {"data": {"sender": {"nickname": "Ann"}}}, True),
        ("data", {"changed_fields.1": "name"}, {"data": {"changed_fields": ["id", "name"]}}, True),
        ("data", {"changed_fields.7": "name"}, {"data": {"changed_fields": ["id", "name"]}}, False),
        ("data", {"a.b": 1, "c": 2}, {"data": {"a": {"b": 1}, "c": 3}}, False),
        ("data", {"a": None}, {"data": {}}, True),
        ("data", {"is_kicked": True}, {"data": {"is_kicked": True}}, True),
        ("data", {"is_kicked": 1}, {"data": {"is_kicked": True}}, False),
        ("data", {"duration": True}, {"data": {"duration": 1}}, False),
        ("probability", 1, {}, True),
        ("probability", 0, {}, False),
    ],
)
def test_filter_matches_what_it_names(name: str, value: Any, fields: dict[str, Any], expected: bool) -> None:
    assert holds(name, value, **fields) == expected


@pytest.mark.parametrize(("role", "expected"), [("admin", True), ("owner", True), ("member", False), ("", False)])
def test_role_filter_matches_the_sender(role: str, expected: bool) -> None:
    event = message(surface="platform")
    named = type(event)(**{**_fields(event), "actor": Participant("user", "ann", "", {"role": role} if role else {})})
    assert (not mismatch({"roles": ["owner", "admin"]}, named)) == expected


def _fields(event: Any) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__slots__}


def test_all_filters_must_match_and_the_first_mismatch_is_named() -> None:
    event = message("hello", surface="platform", data=GROUP)
    assert mismatch({"chat_type": "group", "text_prefix": "hel"}, event) is None
    assert mismatch({"chat_type": "private", "text_prefix": "x"}, event).startswith("chat_type: it is group")


@settings(deadline=None)
@given(st.text(), st.floats(0, 1))
def test_probability_is_deterministic_per_event(event_id: str, probability: float) -> None:
    drawn = [holds("probability", probability, event_id=f"e{event_id}") for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_probability_matches_its_share_of_events() -> None:
    drawn = sum(holds("probability", 0.3, event_id=f"event {number}") for number in range(2000))
    assert 480 < drawn < 720


async def test_probabilities_of_successive_routes_are_independent() -> None:
    world = await World.open(make_agent())
    half = Route("*", "drop", filters={"probability": 0.5})
    await world.core.routes.replace("bot", [half, half, Route("*", "drop")])
    taken = Counter(
        len(world.core.router.evaluate(message(surface="platform", event_id=f"event {number}")))
        for number in range(2000)
    )
    assert 900 < taken[1] < 1100
    assert 420 < taken[2] < 580


ZONES = ["UTC", "Asia/Shanghai", "America/New_York", "Europe/Berlin"]
clock = st.times().map(lambda time: f"{time.hour:02}:{time.minute:02}")


@settings(deadline=None)
@given(
    begin=clock,
    end=clock,
    days=st.lists(st.sampled_from(DAYS), unique=True),
    zone=st.sampled_from(ZONES),
    moment=st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1)),
)
def test_time_window_covers_the_minutes_after_its_start_on_its_days(
    begin: str, end: str, days: list[str], zone: str, moment: datetime
) -> None:
    """Compares with the definition: the window of some day, counted from its midnight, covers the moment."""
    at = int(moment.replace(tzinfo=ZoneInfo("UTC")).timestamp() * 1000)
    local = datetime.fromtimestamp(at / 1000, ZoneInfo(zone)).replace(tzinfo=None)
    first, last = _minutes(begin), _minutes(end)
    length = (last - first) % 1440 or 1440
    covered = []
    for back in (0, 1):
        day = (local - timedelta(days=back)).replace(hour=0, minute=0, second=0, microsecond=0)
        passed = (local - day).total_seconds() / 60
        if first <= passed < first + length and (not days or DAYS[day.weekday()] in days):
            covered.append(day)
    window = {"from": begin, "to": end, "days": days, "timezone": zone}
    assert is_within(window, at) == bool(covered)


def _minutes(written: str) -> int:
    return int(written[:2]) * 60 + int(written[3:])


def test_time_window_over_midnight_belongs_to_its_start_day() -> None:
    window = {"from": "22:00", "to": "06:00", "days": ["mon"], "timezone": "Asia/Shanghai"}
    moments = {"2026-11-16T23:00": True, "2026-11-17T05:59": True, "2026-11-17T06:00": False, "2026-11-17T23:00": False}
    for written, expected in moments.items():
        at = datetime.fromisoformat(written).replace(tzinfo=ZoneInfo("Asia/Shanghai"))
        assert is_within(window, int(at.timestamp() * 1000)) == expected, written


def test_event_without_a_time_uses_the_current_time() -> None:
    now = datetime(2026, 11, 16, 12, 0, tzinfo=ZoneInfo("UTC"))
    event = message(surface="platform")
    window = {"from": "11:00", "to": "13:00"}
    assert mismatch({"time_window": window}, event, int(now.timestamp() * 1000)) is None
    assert (
        mismatch({"time_window": window}, event, int(now.timestamp() * 1000) + 2 * 3_600_000)
        == "time_window: it happened outside of it"
    )
