"""Observers hear of what is durable, after those who wait for it, and harm nobody."""

import asyncio
import logging

import pytest

from parlour.core.journal import GuardFailed, Insert, Unit
from parlour.core.observability.observed_journal import ObservedJournal
from parlour.core.store.tables import META
from parlour.testing import MemoryJournal


def unit(name: str) -> Unit:
    return Unit(name, (Insert(META, {"name": name, "value": ""}),))


async def turns_of_the_loop() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_a_unit_sets_in_motion_goes_before_those_who_only_look() -> None:
    seen: list[str] = []
    journal = ObservedJournal(MemoryJournal(), [lambda unit: seen.append(f"{unit.name} is told")])

    async def answer() -> None:
        seen.append("the answer")

    await journal.commit(unit("a"))
    following = asyncio.create_task(answer())
    await turns_of_the_loop()
    await following
    assert seen == ["the answer", "a is told"]


async def test_units_are_told_once_and_in_order() -> None:
    seen: list[str] = []
    journal = ObservedJournal(MemoryJournal(), [lambda unit: seen.append(unit.name)])
    for name in "abc":
        await journal.commit(unit(name))
    with pytest.raises(GuardFailed):
        await journal.commit(unit("a"))
    await journal.commit(unit("d"))
    await turns_of_the_loop()
    assert seen == ["a", "b", "c", "d"]


async def test_an_observer_that_fails_harms_no_other(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []

    def broken(unit: Unit) -> None:
        raise ValueError(unit.name)

    journal = ObservedJournal(MemoryJournal(), [broken, lambda unit: seen.append(unit.name)])
    with caplog.at_level(logging.ERROR):
        await journal.commit(unit("a"))
        await journal.commit(unit("b"))
        await turns_of_the_loop()
    assert seen == ["a", "b"]
    assert [record.getMessage() for record in caplog.records] == [f"an observer of unit {each} failed" for each in "ab"]
