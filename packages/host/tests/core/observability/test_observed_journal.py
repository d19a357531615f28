"""Observers are called after a commit is durable, after waiting tasks, and cannot harm each other."""

import asyncio
import logging

import pytest

from parlour.core.journal import GuardFailed, Insert, Unit
from parlour.core.observability.observed_journal import ObservedJournal
from parlour.core.store.tables import META
from parlour.testing import MemoryJournal


def unit(name: str) -> Unit:
    return Unit(name, (Insert(META, {"name": name, "value": ""}),))


async def run_loop() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_observers_run_after_tasks_started_by_the_commit() -> None:
    seen: list[str] = []
    journal = ObservedJournal(MemoryJournal(), [lambda unit: seen.append(f"{unit.name} was observed")])

    async def answer() -> None:
        seen.append("the answer")

    await journal.commit(unit("a"))
    following = asyncio.create_task(answer())
    await run_loop()
    await following
    assert seen == ["the answer", "a was observed"]


async def test_committed_units_are_observed_once_in_order() -> None:
    seen: list[str] = []
    journal = ObservedJournal(MemoryJournal(), [lambda unit: seen.append(unit.name)])
    for name in "abc":
        await journal.commit(unit(name))
    with pytest.raises(GuardFailed):
        await journal.commit(unit("a"))
    await journal.commit(unit("d"))
    await run_loop()
    assert seen == ["a", "b", "c", "d"]


async def test_failing_observer_does_not_affect_others(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []

    def broken(unit: Unit) -> None:
        raise ValueError(unit.name)

    journal = ObservedJournal(MemoryJournal(), [broken, lambda unit: seen.append(unit.name)])
    with caplog.at_level(logging.ERROR):
        await journal.commit(unit("a"))
        await journal.commit(unit("b"))
        await run_loop()
    assert seen == ["a", "b"]
    assert [record.getMessage() for record in caplog.records] == [f"an observer of unit {each} failed" for each in "ab"]
