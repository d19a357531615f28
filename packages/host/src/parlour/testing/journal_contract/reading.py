"""Tests that queries find the rows of their conditions in their order, and that wrong queries are refused."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from parlour.core.journal import (
    ANY,
    Delete,
    Increment,
    Insert,
    Journal,
    Ref,
    Select,
    Statement,
    StorageFailed,
    Table,
    Update,
    Upsert,
    above,
    at_least,
    at_most,
    below,
    contains,
    one_of,
    other_than,
    starts_with,
    where,
)
from parlour.core.store.tables import EVENTS, INBOX, META

from .samples import NumberedRows, commit, contents, event, insert, meta, names

NOTHING: Any = None
MISTAKES: dict[str, Statement] = {
    "a missing column": Insert(META, {"name": ""}),
    "an unknown column": Insert(META, {"name": "", "value": "", "more": ""}),
    "a number for a text": Insert(META, {"name": "", "value": 1}),
    "bytes for a text": Insert(META, {"name": "", "value": b""}),
    "nothing for a text": Insert(META, {"name": "", "value": NOTHING}),
    "nothing for a number": insert(INBOX, event_seq=NOTHING),
    "a text for a number": insert(INBOX, event_seq="1"),
    "a number that the database gives": insert(EVENTS, seq=1),
    "a change of such a number": Update(EVENTS, {"seq": 2}, (), expect=ANY),
    "an update of nothing": Update(META, {}, (), expect=ANY),
    "an update of an unknown column": Update(META, {"more": ""}, (), expect=ANY),
    "an update to nothing": Update(META, {"value": NOTHING}, (), expect=ANY),
    "an increment of a text": Update(META, {"value": Increment()}, (), expect=ANY),
    "a condition on an unknown column": Delete(META, where(more=""), expect=ANY),
    "a condition of another type": Delete(META, where(name=1), expect=ANY),
    "a choice of another type": Delete(META, where(name=one_of("", 1)), expect=ANY),
    "an unknown column returned": Insert(META, {"name": "", "value": ""}, returning=("more",)),
    "an upsert by no key": Insert(META, {"name": "", "value": ""}, Upsert(("value",), ("name",))),
    "an upsert of an unknown column": Insert(META, {"name": "", "value": ""}, Upsert(("name",), ("more",))),
    "a reference forward": insert(META, value=Ref(1, "name")),
    "a reference to what is not returned": insert(META, value=Ref(0, "name")),
}


class Reading:
    async def test_conditions_select(self, journal: Journal) -> None:
        await commit(journal, *(insert(INBOX, event_seq=number, lane=f"{number % 2}") for number in range(1, 8)))

        async def seqs(**tests: Any) -> list[int]:
            rows = await journal.read(Select(INBOX, where(**tests), order=("event_seq",)))
            return [row["event_seq"] for row in rows]

        assert await seqs(event_seq=3) == [3]
        assert await seqs(event_seq=other_than(3)) == [1, 2, 4, 5, 6, 7]
        assert await seqs(event_seq=above(5)) == [6, 7]
        assert await seqs(event_seq=at_least(5)) == [5, 6, 7]
        assert await seqs(event_seq=below(3)) == [1, 2]
        assert await seqs(event_seq=at_most(3)) == [1, 2, 3]
        assert await seqs(event_seq=one_of(7, 1, 9, 1, 4)) == [1, 4, 7]
        assert await seqs(event_seq=one_of()) == []
        assert await seqs(event_seq=at_most(5), lane="0") == [2, 4]
        assert await seqs(event_seq=one_of(1, 2, 3), lane=one_of("1", "2")) == [1, 3]

    async def test_order_direction_limit_and_columns(self, journal: Journal) -> None:
        await commit(journal, *(insert(INBOX, event_seq=number, attempts=number % 2) for number in range(1, 6)))
        order, columns = ("attempts", "event_seq"), ("event_seq", "attempts")
        rows = await journal.read(Select(INBOX, (), columns, order, limit=3))
        assert [tuple(row.items()) for row in rows] == [
            (("event_seq", 2), ("attempts", 0)),
            (("event_seq", 4), ("attempts", 0)),
            (("event_seq", 1), ("attempts", 1)),
        ]
        rows = await journal.read(Select(INBOX, (), ("event_seq",), order, "descending", limit=2))
        assert rows == [{"event_seq": 5}, {"event_seq": 3}]
        assert await journal.read(Select(INBOX, limit=0)) == []
        assert len(await journal.read(Select(INBOX))) == 5

    async def test_text_is_ordered_by_code_point(self, journal: Journal) -> None:
        low = ["", "\0", "\0\0", "\0\x01", "\0a", "\x01", "\x01\0", "\x01\x01", "\x01\x02", "\x01a", "\x02", "\x02\0"]
        texts = [*low, "A", "Z", "a", "ab", "z", "é", "中", "\ud7ff", "\ue000", "\uffff", "🎉", "\U0010ffff"]
        await commit(journal, *map(meta, reversed(texts)))
        assert await names(journal) == texts

    @pytest.mark.parametrize(
        ("prefix", "found"),
        [
            ("", ["", "a", "a%b", "a_b", "ab", "b", "中", "中文", "\ud7ff!", "\U0010ffff", "\U0010ffff!"]),
            ("a", ["a", "a%b", "a_b", "ab"]),
            ("a%", ["a%b"]),
            ("A", []),
            ("中", ["中", "中文"]),
            ("\ud7ff", ["\ud7ff!"]),
            ("\U0010ffff", ["\U0010ffff", "\U0010ffff!"]),
            ("\U0010ffff\U0010ffff", []),
        ],
    )
    async def test_prefixes_select(self, journal: Journal, prefix: str, found: Sequence[str]) -> None:
        texts = ["", "a", "a%b", "a_b", "ab", "b", "中", "中文", "\ud7ff!", "\U0010ffff", "\U0010ffff!"]
        await commit(journal, *map(meta, texts))
        assert await names(journal, name=starts_with(prefix)) == list(found)
        await commit(journal, Delete(META, where(name=starts_with(prefix)), expect=len(found)))

    async def test_a_prefix_that_ends_in_the_highest_character_selects(self, journal: Journal) -> None:
        await commit(journal, meta("a"), meta("a\U0010ffff"), meta("a\U0010ffffb"), meta("b"))
        assert await names(journal, name=starts_with("a\U0010ffff")) == ["a\U0010ffff", "a\U0010ffffb"]

    async def test_prefixes_of_the_lowest_characters_select(self, journal: Journal) -> None:
        texts = ["", "\0", "\0\0", "\0\x01", "\0a", "\x01", "\x01\0", "\x01\x02", "\x02"]
        await commit(journal, *map(meta, texts))
        for prefix in texts:
            assert await names(journal, name=starts_with(prefix)) == [text for text in texts if text.startswith(prefix)]

    async def test_parts_of_texts_select_whatever_their_case_and_signs(self, journal: Journal) -> None:
        texts = ["Hello there", "100% sure", "100 things", "a_b", "axb", "wow!", "中文", ""]
        await commit(journal, *map(meta, texts))
        for part, expected in (
            ("hello", ["Hello there"]),
            ("100%", ["100% sure"]),
            ("A_B", ["a_b"]),
            ("!", ["wow!"]),
            ("文", ["中文"]),
            ("none", []),
        ):
            assert await names(journal, name=contains(part)) == expected

    async def test_a_query_by_key_answers_like_any_other(self, journal: Journal) -> None:
        await commit(journal, *(insert(INBOX, event_seq=number, run_id=f"{number % 3}") for number in range(1, 30)))
        for tests in ({"run_id": "1"}, {"event_seq": above(25)}, {"run_id": one_of("0", "2")}, {"run_id": "none"}, {}):
            for limit in (None, 0, 3):
                query = Select(INBOX, where(**tests), (), ("event_seq",), "descending", limit)
                assert await journal.read(replace(query, point_read=True)) == await journal.read(query)

    async def test_rows_belong_to_the_reader(self, journal: Journal) -> None:
        await commit(journal, meta("a", "kept"))
        (row,) = await contents(journal, META)
        row["value"] = "changed"
        assert await contents(journal, META) == [{"name": "a", "value": "kept"}]


class Mistakes(NumberedRows):
    @pytest.mark.parametrize("mistake", MISTAKES)
    async def test_a_mistaken_statement_is_refused(self, journal: Journal, mistake: str) -> None:
        with pytest.raises((AssertionError, StorageFailed)):
            await commit(journal, meta("undone"), MISTAKES[mistake])
        assert await names(journal) == []
        await commit(journal, meta("works"))

    async def test_a_mistaken_query_is_refused(self, journal: Journal) -> None:
        for query in (
            Select(META, columns=("more",)),
            Select(META, order=("more",)),
            Select(META, where(more="")),
            Select(META, where(name=Ref(0, "name"))),
        ):
            with pytest.raises((AssertionError, StorageFailed)):
                await journal.read(query)

    @pytest.mark.parametrize(("table", "column", "value"), [(META, "value", "\ud800"), (INBOX, "attempts", 2**63)])
    async def test_a_value_that_no_database_can_hold_is_refused(
        self, journal: Journal, table: Table, column: str, value: Any
    ) -> None:
        with pytest.raises(StorageFailed):
            await commit(journal, event("undone"), insert(table, **{column: value}))
        for point_read in (False, True):
            with pytest.raises(StorageFailed):
                await journal.read(Select(table, where(**{column: value}), point_read=point_read))
        assert list(await commit(journal, event("kept"))) == [[{"seq": self.number(1)}]]
