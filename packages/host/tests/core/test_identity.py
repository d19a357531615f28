"""Ids: UUIDv7, unique, and sorted as they were made."""

import time
from uuid import UUID

import pytest

from parlour.core.system import SystemClock, SystemIds, make_uuid7


def test_ids_are_uuids_of_version_7_with_the_present_time() -> None:
    before = time.time_ns() // 1_000_000
    made = SystemIds().new()
    after = time.time_ns() // 1_000_000
    identity = UUID(made)
    assert str(identity) == made
    assert (identity.version, identity.variant) == (7, "specified in RFC 4122")
    assert before <= identity.int >> 80 <= after


def test_ids_of_one_process_are_unique_and_sort_as_they_were_made() -> None:
    ids = SystemIds()
    made = [ids.new() for _ in range(20_000)]
    assert made == sorted(set(made))


def test_ids_still_sort_when_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = SystemIds()
    times = iter([5_000, 4_000, 4_500, 5_000, 6_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(times) * 1_000_000)
    made = [ids.new() for _ in range(5)]
    assert made == sorted(set(made))


def test_two_processes_make_different_ids() -> None:
    assert SystemIds().new()[14:] != SystemIds().new()[14:]


def test_an_id_is_composed_of_its_time_and_its_tail() -> None:
    assert make_uuid7(0, 0) == "00000000-0000-7000-8000-000000000000"
    assert make_uuid7(2**48 - 1, 2**74 - 1) == "ffffffff-ffff-7fff-bfff-ffffffffffff"
    with pytest.raises(ValueError, match="74 bits"):
        make_uuid7(0, 2**74)


def test_the_clock_tells_milliseconds() -> None:
    assert abs(SystemClock().now() - time.time() * 1000) < 5_000
