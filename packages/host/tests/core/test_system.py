"""Ids are UUIDv7: unique and sorted by creation."""

import time
from uuid import UUID

import pytest

from parlour.core.system import SystemClock, SystemIds, make_uuid7


def test_ids_are_uuid7_with_the_current_time() -> None:
    before = time.time_ns() // 1_000_000
    made = SystemIds().new()
    after = time.time_ns() // 1_000_000
    identity = UUID(made)
    assert str(identity) == made
    assert (identity.version, identity.variant) == (7, "specified in RFC 4122")
    assert before <= identity.int >> 80 <= after


def test_ids_of_a_process_are_unique_and_sorted() -> None:
    ids = SystemIds()
    made = [ids.new() for _ in range(20_000)]
    assert made == sorted(set(made))


def test_ids_stay_sorted_if_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = SystemIds()
    times = iter([5_000, 4_000, 4_500, 5_000, 6_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(times) * 1_000_000)
    made = [ids.new() for _ in range(5)]
    assert made == sorted(set(made))


def test_ids_of_two_processes_differ() -> None:
    assert SystemIds().new()[14:] != SystemIds().new()[14:]


def test_id_consists_of_time_and_tail() -> None:
    assert make_uuid7(0, 0) == "00000000-0000-7000-8000-000000000000"
    assert make_uuid7(2**48 - 1, 2**74 - 1) == "ffffffff-ffff-7fff-bfff-ffffffffffff"
    with pytest.raises(ValueError, match="74 bits"):
        make_uuid7(0, 2**74)


def test_clock_returns_milliseconds() -> None:
    assert abs(SystemClock().now() - time.time() * 1000) < 5_000
