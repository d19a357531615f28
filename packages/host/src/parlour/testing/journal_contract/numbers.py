"""Tests that numbers of the journal have no gaps and follow the order of the commits."""

import asyncio
from typing import Any

import pytest

from parlour.core.journal import Delete, GuardFailed, Increment, Insert, Journal, Select, Update, Upsert, where
from parlour.core.store.tables import EVENTS, INBOX, META, OUTBOX

from .samples import NumberedRows, commit, contents, event, filled, insert, meta


class Numbers(NumberedRows):
    async def test_numbers_stay_gap_free_when_units_fail(self, journal: Journal) -> None:
        await commit(journal, event("1"))
        with pytest.raises(GuardFailed):
            await commit(journal, event("lost"), event("1"))
        with pytest.raises(GuardFailed):
            await commit(journal, event("lost"), event("lost too"), Delete(META, where(name="absent")))
        assert list(await commit(journal, event("2"))) == [[{"seq": self.number(2)}]]

    async def test_numbers_stay_gap_free_when_inserts_end_in_a_conflict(self, journal: Journal) -> None:
        await commit(journal, event("1"), insert(OUTBOX, outbox_id="1"))
        await commit(
            journal,
            Insert(EVENTS, filled(EVENTS, event_id="1"), conflict="ignore"),
            Insert(OUTBOX, filled(OUTBOX, outbox_id="1"), conflict=Upsert(("outbox_id",), ("reason",))),
        )
        outgoing = Insert(OUTBOX, filled(OUTBOX, outbox_id="2"), returning=("seq",))
        assert list(await commit(journal, event("2"), outgoing)) == [
            [{"seq": self.number(2)}],
            [{"seq": self.number(2)}],
        ]

    async def test_a_deleted_row_does_not_give_its_number_back(self, journal: Journal) -> None:
        await commit(journal, event("1"), event("2"))
        await commit(journal, Delete(EVENTS, where(seq=self.number(2))))
        await commit(journal, Insert(EVENTS, filled(EVENTS, event_id="1"), conflict="ignore"))
        assert list(await commit(journal, event("3"))) == [[{"seq": self.number(3)}]]

    async def test_counts_of_many_at_once_add_up(self, journal: Journal) -> None:
        await commit(journal, insert(INBOX, event_seq=1))
        count = Update(INBOX, {"attempts": Increment()}, where(event_seq=1), returning=("attempts",))
        receipts = await asyncio.gather(*(commit(journal, count) for _ in range(100)))
        assert sorted(rows[0]["attempts"] for [rows] in receipts) == list(range(1, 101))

    async def test_a_failing_unit_does_no_harm_to_those_beside_it(self, journal: Journal) -> None:
        await commit(journal, meta("taken"))
        units = [(event(f"{number}"), meta("taken" if number % 3 == 1 else f"{number}")) for number in range(60)]
        outcomes = await asyncio.gather(*(commit(journal, *unit) for unit in units), return_exceptions=True)
        failed = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, GuardFailed)]
        assert failed == list(range(1, 60, 3))
        receipts = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
        assert [outcome[0][0]["seq"] for outcome in receipts] == self.numbers(40)
        assert [row["seq"] for row in await contents(journal, EVENTS)] == self.numbers(40)
        assert len(await contents(journal, META)) == 41

    async def test_many_at_once_are_numbered_in_the_order_they_are_committed(self, journal: Journal) -> None:
        acknowledged: list[int] = []

        async def writer(name: int) -> None:
            for number in range(10):
                ((row,), _) = await commit(journal, event(f"{name} {number}"), meta(f"{name} {number}"))
                acknowledged.append(row["seq"])
                [newest] = await journal.read(
                    Select(EVENTS, columns=("seq",), order=("seq",), direction="descending", limit=1)
                )
                assert newest["seq"] >= row["seq"]

        await asyncio.gather(*map(writer, range(50)))
        assert acknowledged == self.numbers(500)
        assert [row["seq"] for row in await contents(journal, EVENTS)] == self.numbers(500)

    async def test_a_read_sees_every_row_up_to_the_highest_number(self, journal: Journal) -> None:
        writers = [asyncio.create_task(commit(journal, event(f"{number}"))) for number in range(200)]
        pending: set[asyncio.Task[Any]] = set(writers)
        while pending:
            _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            numbers = [row["seq"] for row in await journal.read(Select(EVENTS, columns=("seq",), order=("seq",)))]
            assert numbers == self.numbers(len(numbers))
