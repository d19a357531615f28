"""Due times of a schedule: by interval, by cron expression, and across daylight saving time."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.model.schedule import InvalidSchedule, Schedule, validate_schedule

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def times(schedule: Schedule, begin: str, count: int) -> list[str]:
    moment, found = at(begin), []
    for _ in range(count):
        moment = schedule.next_due_after(moment)
        found.append(datetime.fromtimestamp(moment / 1000, ZoneInfo(schedule.timezone)).isoformat())
    return found


@given(st.integers(10, 10**6), st.integers(0, 4 * 10**12))
def test_next_time_of_an_interval_is_within_one_interval(seconds: int, moment: int) -> None:
    due = Schedule("s", "s", interval_seconds=seconds).next_due_after(moment)

    assert moment < due <= moment + seconds * 1000
    assert due % (seconds * 1000) == 0


@given(st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1)), st.sampled_from(["*/7 * * * *", "30 2 * * *"]))
def test_next_time_of_a_cron_expression_is_later(moment: datetime, cron: str) -> None:
    begin = int(moment.replace(tzinfo=UTC).timestamp() * 1000)

    assert Schedule("s", "s", cron=cron, timezone="Europe/Berlin").next_due_after(begin) > begin


def test_time_skipped_by_daylight_saving_is_due_once_after_the_gap() -> None:
    daily = Schedule("s", "s", cron="30 2 * * *", timezone="Europe/Berlin")

    assert times(daily, "2026-03-28T12:00:00+01:00", 3) == [
        "2026-03-29T03:00:00+02:00",
        "2026-03-30T02:30:00+02:00",
        "2026-03-31T02:30:00+02:00",
    ]


def test_time_repeated_by_daylight_saving_is_due_once() -> None:
    daily = Schedule("s", "s", cron="30 2 * * *", timezone="Europe/Berlin")

    assert times(daily, "2026-10-24T12:00:00+02:00", 2) == [
        "2026-10-25T02:30:00+02:00",
        "2026-10-26T02:30:00+01:00",
    ]


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({}, "cron", "give either cron"),
        ({"cron": "0 9 * * *", "interval_seconds": 60}, "cron", "give either cron"),
        ({"cron": "0 9 * *"}, "cron", "five fields"),
        ({"cron": "99 9 * * *"}, "cron", "can't be read"),
        ({"cron": "0 0 31 2 *"}, "cron", "can't be read"),
        ({"interval_seconds": 5}, "interval_seconds", "at least 10"),
        ({"interval_seconds": 60, "timezone": "Berlin"}, "timezone", "looks like Europe/Berlin"),
        ({"interval_seconds": 60, "timezone": "../etc/passwd"}, "timezone", "looks like Europe/Berlin"),
    ],
)
def test_invalid_schedule_is_refused_with_its_field(fields: dict[str, object], field: str, words: str) -> None:
    with pytest.raises(InvalidSchedule, match=words) as refused:
        validate_schedule(Schedule("s", "s", **{"agent_id": "agent", **fields}), at("2026-01-01T00:00:00+00:00"))  # type: ignore[arg-type]

    assert refused.value.field == field
