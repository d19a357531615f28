"""Tests inserts on existing rows, and what updates and deletes report about the rows that they touched."""

from dataclasses import replace

import pytest

from parlour.core.journal import ANY, Delete, GuardFailed, Increment, Insert, Journal, Update, Upsert, above, where
from parlour.core.store.tables import EVENTS, INBOX, META, OUTBOX, RUN_EVENTS, STATE, TRANSCRIPT

from .samples import NumberedRows, commit, contents, event, filled, insert, meta, names


class Conflicts(NumberedRows):
    async def test_nothing_comes_back_of_what_was_not_there(self, journal: Journal) -> None:
        update = Update(INBOX, {"attempts": Increment()}, where(event_seq=7), expect=ANY, returning=("attempts",))
        assert await commit(journal, update) == [[]]
        with pytest.raises(GuardFailed):
            await commit(journal, replace(update, expect=1))

    async def test_a_second_row_with_the_same_key_fails_the_guard(self, journal: Journal) -> None:
        await commit(journal, insert(RUN_EVENTS, run_id="r", sequence=1, type="first"))
        with pytest.raises(GuardFailed) as failure:
            await commit(journal, meta("undone"), insert(RUN_EVENTS, run_id="r", sequence=1, type="second"))
        assert failure.value.statement == 1
        assert [row["type"] for row in await contents(journal, RUN_EVENTS)] == ["first"]
        assert await names(journal) == []

    async def test_a_second_row_with_the_same_unique_columns_fails_the_guard(self, journal: Journal) -> None:
        await commit(journal, event("same"))
        with pytest.raises(GuardFailed):
            await commit(journal, event("same"))
        assert len(await contents(journal, EVENTS)) == 1

    async def test_an_update_into_a_taken_place_fails_the_guard(self, journal: Journal) -> None:
        await commit(
            journal,
            insert(TRANSCRIPT, transcript_id="a", conversation_id="c", seq=1),
            insert(TRANSCRIPT, transcript_id="b", conversation_id="c", seq=2),
        )
        for values in ({"seq": 1}, {"transcript_id": "a"}):
            with pytest.raises(GuardFailed):
                await commit(journal, Update(TRANSCRIPT, values, where(transcript_id="b")))
        await commit(journal, Update(TRANSCRIPT, {"seq": 2}, where(transcript_id="b")))

    async def test_an_update_of_a_key_to_itself_requires_the_row_and_leaves_it_as_it_is(self, journal: Journal) -> None:
        await commit(journal, meta("a", "kept"))
        await commit(journal, Update(META, {"name": "a"}, where(name="a")), meta("b"))
        with pytest.raises(GuardFailed):
            await commit(journal, meta("undone"), Update(META, {"name": "c"}, where(name="c")))
        assert await names(journal) == ["a", "b"]

    async def test_a_freed_place_can_be_taken_in_the_same_unit(self, journal: Journal) -> None:
        await commit(journal, meta("a", "old"))
        await commit(journal, Delete(META, where(name="a")), meta("a", "new"))
        assert await contents(journal, META) == [{"name": "a", "value": "new"}]

    async def test_an_ignored_conflict_changes_and_returns_nothing(self, journal: Journal) -> None:
        await commit(journal, meta("a", "old"))
        repeated = Insert(META, {"name": "a", "value": "new"}, conflict="ignore", returning=("value",))
        unrelated = Insert(META, {"name": "b", "value": "new"}, conflict="ignore", returning=("value",))
        assert list(await commit(journal, repeated, unrelated)) == [[], [{"value": "new"}]]
        assert await contents(journal, META) == [{"name": "a", "value": "old"}, {"name": "b", "value": "new"}]

    async def test_an_upsert_sets_only_the_columns_it_names(self, journal: Journal) -> None:
        def upsert(value: str, scope: str) -> Insert:
            row = filled(STATE, scope_key="k", name="n", scope=scope, value=value)
            return Insert(STATE, row, Upsert(("scope_key", "name"), ("value",)), returning=("value", "scope"))

        assert list(await commit(journal, upsert("1", "first"))) == [[{"value": "1", "scope": "first"}]]
        assert list(await commit(journal, upsert("2", "second"))) == [[{"value": "2", "scope": "first"}]]
        assert [row["value"] for row in await contents(journal, STATE)] == ["2"]

    async def test_an_upsert_may_go_by_a_unique_constraint(self, journal: Journal) -> None:
        def upsert(reason: str) -> Insert:
            row = filled(OUTBOX, outbox_id="o", reason=reason)
            return Insert(OUTBOX, row, Upsert(("outbox_id",), ("reason",)), returning=("seq", "reason"))

        assert list(await commit(journal, upsert("first"))) == [[{"seq": self.number(1), "reason": "first"}]]
        assert list(await commit(journal, upsert("second"))) == [[{"seq": self.number(1), "reason": "second"}]]

    async def test_an_upsert_that_hits_another_constraint_fails_the_guard(self, journal: Journal) -> None:
        await commit(journal, insert(TRANSCRIPT, transcript_id="a", conversation_id="c", seq=1))
        row = filled(TRANSCRIPT, transcript_id="b", conversation_id="c", seq=1)
        with pytest.raises(GuardFailed):
            await commit(journal, Insert(TRANSCRIPT, row, Upsert(("transcript_id",), ("content",))))


class Changes:
    async def test_updates_and_deletes_return_the_rows_they_touched(self, journal: Journal) -> None:
        await commit(journal, *(insert(INBOX, event_seq=number, run_id="r", attempts=number) for number in (1, 2, 3)))
        conditions = where(run_id="r", event_seq=above(1))
        update = Update(INBOX, {"attempts": Increment(10)}, conditions, expect=2, returning=("event_seq", "attempts"))
        delete = Delete(INBOX, conditions, expect=ANY, returning=("attempts",))
        updated, deleted = await commit(journal, update, delete)
        assert sorted(updated, key=lambda row: row["event_seq"]) == [
            {"event_seq": 2, "attempts": 12},
            {"event_seq": 3, "attempts": 13},
        ]
        assert sorted(row["attempts"] for row in deleted) == [12, 13]
        assert [row["event_seq"] for row in await contents(journal, INBOX)] == [1]

    async def test_an_increment_may_be_negative(self, journal: Journal) -> None:
        await commit(journal, insert(INBOX, event_seq=1, attempts=3))
        await commit(journal, Update(INBOX, {"attempts": Increment(-5)}, where(event_seq=1)))
        assert [row["attempts"] for row in await contents(journal, INBOX)] == [-2]
