"""What every journal must do, as tests. An implementation joins by a subclass that gives the `journal` fixture.

The database behind it is empty and has the tables of `core.facts.tables`. Needs pytest and pytest-asyncio in auto mode.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from parlour.core.facts.tables import (
    EVENTS,
    INBOX,
    META,
    OUTBOX,
    RUN_EVENTS,
    STATE,
    STORAGE,
    TRANSCRIPT,
    TRANSCRIPT_SEARCH,
)
from parlour.core.journal import (
    ANY,
    Delete,
    GuardFailed,
    Increment,
    Insert,
    Journal,
    Receipt,
    Ref,
    Row,
    Search,
    Select,
    Statement,
    StorageFailed,
    Table,
    Unit,
    Update,
    Upsert,
    above,
    at_least,
    at_most,
    below,
    holding,
    one_of,
    other_than,
    starting,
    where,
)

EMPTY: dict[str, Any] = {"text": "", "integer": 0, "blob": b""}


def filled(table: Table, **values: Any) -> dict[str, Any]:
    """A row for an insert: what is given, and what stands for nothing in all other columns."""
    row = {column.name: EMPTY[column.kind] for column in table.columns if column.name != table.counted}
    return {**row, **values}


def insert(table: Table, **values: Any) -> Insert:
    return Insert(table, filled(table, **values))


def event(event_id: str) -> Insert:
    return Insert(EVENTS, filled(EVENTS, event_id=event_id), returning=("seq",))


def meta(name: str, value: str = "") -> Insert:
    return insert(META, name=name, value=value)


async def commit(journal: Journal, *statements: Statement) -> Receipt:
    return await journal.commit(Unit("test", statements))


async def contents(journal: Journal, table: Table) -> list[Row]:
    return await journal.read(Select(table, order=table.key))


async def names(journal: Journal, **tests: Any) -> list[str]:
    rows = await journal.read(Select(META, where(**tests), ("name",), order=("name",)))
    return [row["name"] for row in rows]


HARD_TEXTS = {
    "NUL": "\0",
    "NUL within": "a\0b\0\0",
    "the lowest characters": "\x01\x02\0\x01\x01\x02",
    "what looks like an escape": r"\u0000 \x00 \0 \\",
    "quotes and marks": "'\"`$1 $step$ ?:name %s {} ;--",
    "control characters": "\t\r\n\x0b\x1f\x7f\u2028",
    "spaces at the ends": "  padded  ",
    "composed and decomposed": "é e\u0301 ﬁ",
    "beyond the basic plane": "𝔘🎉👩‍👩‍👧",
}
ALL_BYTES = bytes(range(256)) * 5


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


class JournalContract:
    @pytest.fixture
    async def journal(self) -> Journal:
        raise NotImplementedError("a subclass gives an empty one")

    # Units

    async def test_what_was_committed_is_read_back(self, journal: Journal) -> None:
        assert list(await commit(journal, meta("greeting", "héllo 🎉\0end"))) == [[]]
        assert await contents(journal, META) == [{"name": "greeting", "value": "héllo 🎉\0end"}]

    @pytest.mark.parametrize("text", HARD_TEXTS.values(), ids=HARD_TEXTS)
    async def test_every_text_is_kept_returned_and_found(self, journal: Journal, text: str) -> None:
        put = Insert(STATE, filled(STATE, scope_key="k", name=text, value=text), returning=("name", "value"))
        put_again = Insert(META, {"name": Ref(0, "name"), "value": Ref(0, "value")})
        assert list(await commit(journal, put, put_again)) == [[{"name": text, "value": text}], []]
        assert await contents(journal, META) == [{"name": text, "value": text}]
        for few in (False, True):
            [found] = await journal.read(Select(STATE, where(scope_key="k", name=text), ("value",), few=few))
            assert found == {"value": text}
        await commit(journal, Update(META, {"value": ""}, where(name=one_of(text, "other"), value=text)))

    async def test_a_long_text_is_kept(self, journal: Journal) -> None:
        text = "long " * 200_000
        await commit(journal, meta("a", text))
        assert await contents(journal, META) == [{"name": "a", "value": text}]

    @pytest.mark.parametrize("blob", [b"", b"\0", ALL_BYTES], ids=["empty", "NUL", "every byte"])
    async def test_every_blob_is_kept_returned_and_found(self, journal: Journal, blob: bytes) -> None:
        put = Insert(STORAGE, filled(STORAGE, name="n", value=blob), returning=("value", "name"))
        again = insert(STORAGE, name="again", value=Ref(0, "value"))
        assert (await commit(journal, put, again))[0] == [{"value": blob, "name": "n"}]
        for few in (False, True):
            rows = await journal.read(Select(STORAGE, where(value=blob), ("name", "value"), order=("name",), few=few))
            assert rows == [{"name": "again", "value": blob}, {"name": "n", "value": blob}]
        await commit(journal, Delete(STORAGE, where(value=one_of(blob)), expect=2))

    @pytest.mark.parametrize("number", [0, -1, 2**53 + 1, 2**63 - 1, -(2**63), True])
    async def test_every_number_of_64_bits_is_kept_returned_and_found(self, journal: Journal, number: int) -> None:
        put = Insert(INBOX, filled(INBOX, event_seq=number, attempts=7), returning=("event_seq",))
        [[row], _] = await commit(
            journal, put, Update(INBOX, {"attempts": number}, where(event_seq=Ref(0, "event_seq")))
        )
        assert row == {"event_seq": int(number)}
        for few in (False, True):
            query = Select(INBOX, where(attempts=number, event_seq=one_of(number)), ("attempts",), few=few)
            assert await journal.read(query) == [{"attempts": int(number)}]

    async def test_statements_of_a_unit_see_what_those_before_them_did(self, journal: Journal) -> None:
        statements: list[Statement] = [meta("a", "0")]
        statements += [Update(META, {"value": f"{n + 1}"}, where(name="a", value=f"{n}")) for n in range(20)]
        statements += [Delete(META, where(value="20")), meta("a", "new"), Update(META, {"name": "b"}, where(name="a"))]
        await commit(journal, *statements)
        assert await contents(journal, META) == [{"name": "b", "value": "new"}]

    async def test_a_unit_without_statements_commits(self, journal: Journal) -> None:
        assert list(await commit(journal)) == []

    async def test_each_statement_has_its_place_in_the_receipt(self, journal: Journal) -> None:
        receipt = await commit(journal, event("a"), meta("b"), event("c"))
        assert list(receipt) == [[{"seq": 1}], [], [{"seq": 2}]]

    async def test_a_reference_carries_a_number_to_later_statements(self, journal: Journal) -> None:
        await commit(journal, event("earlier"))
        owed = insert(INBOX, event_seq=Ref(0, "seq"), lane="lane")
        begun = Update(INBOX, {"attempts": Increment(3), "state": Ref(0, "event_id")}, where(event_seq=Ref(0, "seq")))
        first = Insert(EVENTS, filled(EVENTS, event_id="e"), returning=("seq", "event_id"))
        await commit(journal, first, owed, begun)
        rows = await journal.read(Select(INBOX, columns=("event_seq", "attempts", "state")))
        assert rows == [{"event_seq": 2, "attempts": 3, "state": "e"}]

    async def test_a_reference_to_what_returned_no_row_fails_the_guard(self, journal: Journal) -> None:
        await commit(journal, meta("there"))
        ignored = Insert(META, {"name": "there", "value": ""}, conflict="ignore", returning=("name",))
        with pytest.raises(GuardFailed) as failure:
            await commit(journal, ignored, insert(META, name="more", value=Ref(0, "name")))
        assert failure.value.statement == 1
        assert await names(journal) == ["there"]

    async def test_a_guard_that_fails_undoes_the_whole_unit(self, journal: Journal) -> None:
        await commit(journal, meta("a", "1"), meta("b", "1"))
        with pytest.raises(GuardFailed) as failure:
            await journal.commit(
                Unit(
                    "step",
                    (
                        meta("c"),
                        Update(META, {"value": "2"}, where(name="a")),
                        Delete(META, where(name="b")),
                        Update(META, {"value": "2"}, where(name="absent")),
                        meta("d"),
                    ),
                )
            )
        assert (failure.value.unit, failure.value.statement) == ("step", 3)
        assert await contents(journal, META) == [{"name": "a", "value": "1"}, {"name": "b", "value": "1"}]

    @pytest.mark.parametrize("expect", [0, 1, 3])
    async def test_touching_another_number_of_rows_than_expected_fails(self, journal: Journal, expect: int) -> None:
        await commit(journal, meta("a"), meta("b"))
        for statement in (Update(META, {"value": "x"}, (), expect=expect), Delete(META, (), expect=expect)):
            with pytest.raises(GuardFailed):
                await commit(journal, statement)
        assert await contents(journal, META) == [{"name": "a", "value": ""}, {"name": "b", "value": ""}]

    async def test_a_statement_may_expect_no_row_or_any_number(self, journal: Journal) -> None:
        await commit(journal, meta("a"), meta("b"))
        update = Update(META, {"value": "x"}, where(name="absent"), expect=0)
        await commit(journal, update, Delete(META, (), expect=ANY))
        assert await names(journal) == []

    async def test_cancelling_the_caller_takes_nothing_back(self, journal: Journal) -> None:
        caller = asyncio.create_task(commit(journal, meta("kept")))
        await asyncio.sleep(0)
        caller.cancel()
        await asyncio.wait([caller])
        await commit(journal, meta("next"))
        assert await names(journal) == ["kept", "next"]

    # Conflicts

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

    async def test_a_freed_place_can_be_taken_in_the_same_unit(self, journal: Journal) -> None:
        await commit(journal, meta("a", "old"))
        await commit(journal, Delete(META, where(name="a")), meta("a", "new"))
        assert await contents(journal, META) == [{"name": "a", "value": "new"}]

    async def test_an_ignored_conflict_changes_and_returns_nothing(self, journal: Journal) -> None:
        await commit(journal, meta("a", "old"))
        again = Insert(META, {"name": "a", "value": "new"}, conflict="ignore", returning=("value",))
        fresh = Insert(META, {"name": "b", "value": "new"}, conflict="ignore", returning=("value",))
        assert list(await commit(journal, again, fresh)) == [[], [{"value": "new"}]]
        assert await contents(journal, META) == [{"name": "a", "value": "old"}, {"name": "b", "value": "new"}]

    async def test_an_upsert_sets_only_the_columns_it_names(self, journal: Journal) -> None:
        def put(value: str, scope: str) -> Insert:
            row = filled(STATE, scope_key="k", name="n", scope=scope, value=value)
            return Insert(STATE, row, Upsert(("scope_key", "name"), ("value",)), returning=("value", "scope"))

        assert list(await commit(journal, put("1", "first"))) == [[{"value": "1", "scope": "first"}]]
        assert list(await commit(journal, put("2", "second"))) == [[{"value": "2", "scope": "first"}]]
        assert [row["value"] for row in await contents(journal, STATE)] == ["2"]

    async def test_an_upsert_may_go_by_a_unique_constraint(self, journal: Journal) -> None:
        def put(reason: str) -> Insert:
            row = filled(OUTBOX, outbox_id="o", reason=reason)
            return Insert(OUTBOX, row, Upsert(("outbox_id",), ("reason",)), returning=("seq", "reason"))

        assert list(await commit(journal, put("first"))) == [[{"seq": 1, "reason": "first"}]]
        assert list(await commit(journal, put("second"))) == [[{"seq": 1, "reason": "second"}]]

    async def test_an_upsert_that_hits_another_constraint_fails_the_guard(self, journal: Journal) -> None:
        await commit(journal, insert(TRANSCRIPT, transcript_id="a", conversation_id="c", seq=1))
        row = filled(TRANSCRIPT, transcript_id="b", conversation_id="c", seq=1)
        with pytest.raises(GuardFailed):
            await commit(journal, Insert(TRANSCRIPT, row, Upsert(("transcript_id",), ("content",))))

    # Changing and removing

    async def test_updates_and_deletes_return_the_rows_they_touched(self, journal: Journal) -> None:
        await commit(journal, *(insert(INBOX, event_seq=number, run_id="r", attempts=number) for number in (1, 2, 3)))
        wanted = where(run_id="r", event_seq=above(1))
        update = Update(INBOX, {"attempts": Increment(10)}, wanted, expect=2, returning=("event_seq", "attempts"))
        delete = Delete(INBOX, wanted, expect=ANY, returning=("attempts",))
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

    # Numbers

    async def test_numbers_stay_gap_free_when_units_fail(self, journal: Journal) -> None:
        await commit(journal, event("1"))
        with pytest.raises(GuardFailed):
            await commit(journal, event("lost"), event("1"))
        with pytest.raises(GuardFailed):
            await commit(journal, event("lost"), event("lost too"), Delete(META, where(name="absent")))
        assert list(await commit(journal, event("2"))) == [[{"seq": 2}]]

    async def test_numbers_stay_gap_free_when_inserts_end_in_a_conflict(self, journal: Journal) -> None:
        await commit(journal, event("1"), insert(OUTBOX, outbox_id="1"))
        await commit(
            journal,
            Insert(EVENTS, filled(EVENTS, event_id="1"), conflict="ignore"),
            Insert(OUTBOX, filled(OUTBOX, outbox_id="1"), conflict=Upsert(("outbox_id",), ("reason",))),
        )
        outgoing = Insert(OUTBOX, filled(OUTBOX, outbox_id="2"), returning=("seq",))
        assert list(await commit(journal, event("2"), outgoing)) == [[{"seq": 2}], [{"seq": 2}]]

    async def test_a_deleted_row_does_not_give_its_number_back(self, journal: Journal) -> None:
        await commit(journal, event("1"), event("2"))
        await commit(journal, Delete(EVENTS, where(seq=2)))
        await commit(journal, Insert(EVENTS, filled(EVENTS, event_id="1"), conflict="ignore"))
        assert list(await commit(journal, event("3"))) == [[{"seq": 3}]]

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
        good = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
        assert [outcome[0][0]["seq"] for outcome in good] == list(range(1, 41))
        assert [row["seq"] for row in await contents(journal, EVENTS)] == list(range(1, 41))
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
        assert acknowledged == list(range(1, 501))
        assert [row["seq"] for row in await contents(journal, EVENTS)] == list(range(1, 501))

    async def test_a_read_sees_every_row_up_to_the_highest_number(self, journal: Journal) -> None:
        writers = [asyncio.create_task(commit(journal, event(f"{number}"))) for number in range(200)]
        pending: set[asyncio.Task[Any]] = set(writers)
        while pending:
            _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            seen = [row["seq"] for row in await journal.read(Select(EVENTS, columns=("seq",), order=("seq",)))]
            assert seen == list(range(1, len(seen) + 1))

    # Reading

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
        assert await names(journal, name=starting(prefix)) == list(found)
        await commit(journal, Delete(META, where(name=starting(prefix)), expect=len(found)))

    async def test_a_prefix_that_ends_in_the_highest_character_selects(self, journal: Journal) -> None:
        await commit(journal, meta("a"), meta("a\U0010ffff"), meta("a\U0010ffffb"), meta("b"))
        assert await names(journal, name=starting("a\U0010ffff")) == ["a\U0010ffff", "a\U0010ffffb"]

    async def test_prefixes_of_the_lowest_characters_select(self, journal: Journal) -> None:
        texts = ["", "\0", "\0\0", "\0\x01", "\0a", "\x01", "\x01\0", "\x01\x02", "\x02"]
        await commit(journal, *map(meta, texts))
        for prefix in texts:
            assert await names(journal, name=starting(prefix)) == [text for text in texts if text.startswith(prefix)]

    async def test_parts_of_texts_select_whatever_their_case_and_signs(self, journal: Journal) -> None:
        texts = ["Hello there", "100% sure", "100 things", "a_b", "axb", "wow!", "中文", ""]
        await commit(journal, *map(meta, texts))
        for part, found in (
            ("hello", ["Hello there"]),
            ("100%", ["100% sure"]),
            ("A_B", ["a_b"]),
            ("!", ["wow!"]),
            ("文", ["中文"]),
            ("none", []),
        ):
            assert await names(journal, name=holding(part)) == found

    async def test_a_query_by_key_answers_like_any_other(self, journal: Journal) -> None:
        await commit(journal, *(insert(INBOX, event_seq=number, run_id=f"{number % 3}") for number in range(1, 30)))
        for tests in ({"run_id": "1"}, {"event_seq": above(25)}, {"run_id": one_of("0", "2")}, {"run_id": "none"}, {}):
            for limit in (None, 0, 3):
                query = Select(INBOX, where(**tests), (), ("event_seq",), "descending", limit)
                assert await journal.read(replace(query, few=True)) == await journal.read(query)

    async def test_rows_belong_to_the_reader(self, journal: Journal) -> None:
        await commit(journal, meta("a", "kept"))
        (row,) = await contents(journal, META)
        row["value"] = "changed"
        assert await contents(journal, META) == [{"name": "a", "value": "kept"}]

    # Mistakes

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
        for few in (False, True):
            with pytest.raises(StorageFailed):
                await journal.read(Select(table, where(**{column: value}), few=few))
        assert list(await commit(journal, event("kept"))) == [[{"seq": 1}]]

    # Search

    async def found(self, journal: Journal, *words: str, **conditions: Any) -> list[str]:
        rows = await journal.search(Search(TRANSCRIPT_SEARCH, "words", words, where(**conditions)))
        return [str(row["transcript_id"]) for row in rows]

    async def test_a_search_finds_rows_that_hold_all_the_words(self, journal: Journal) -> None:
        await commit(journal, *(searchable(each, text) for each, text in SEARCHED.items()))
        assert set(await self.found(journal, "rain")) == {"a", "b", "c"}
        assert await self.found(journal, "rain", "tomorrow") == ["b"]
        assert await self.found(journal, "sun") == []
        assert await self.found(journal, "明天") == ["d"]
        assert await self.found(journal, "天") == ["d"]

    async def test_a_search_gives_the_closer_match_first_and_the_newer_among_equals(self, journal: Journal) -> None:
        await commit(journal, *(searchable(each, text) for each, text in SEARCHED.items()))
        assert await self.found(journal, "rain") == ["c", "a", "b"]

    async def test_a_search_is_bound_by_its_conditions_and_its_limit(self, journal: Journal) -> None:
        await commit(journal, *(searchable(each, "rain", role=each) for each in "abc"))
        assert await self.found(journal, "rain", role="b") == ["b"]
        assert await self.found(journal, "rain", role=one_of("a", "c"), created_at=above(-1)) == ["c", "a"]
        limited = await journal.search(Search(TRANSCRIPT_SEARCH, "words", ("rain",), limit=2))
        assert [row["transcript_id"] for row in limited] == ["c", "b"]

    @pytest.mark.parametrize("word", ['"', "'", 'a"b', "OR", "NOT", "*", "a:b", "-", "\\", "'&'", "("])
    async def test_words_are_data_and_never_syntax(self, journal: Journal, word: str) -> None:
        await commit(journal, searchable("a", "rain tomorrow"))
        assert await self.found(journal, word) == []

    async def test_what_was_deleted_is_not_found(self, journal: Journal) -> None:
        await commit(journal, searchable("a", "rain"), searchable("b", "rain"))
        await commit(journal, Delete(TRANSCRIPT_SEARCH, where(transcript_id="a")))
        assert await self.found(journal, "rain") == ["b"]


SEARCHED = {"a": "rain today", "b": "rain tomorrow and ever after that too", "c": "rain now", "d": "明 天 明天"}


def searchable(transcript_id: str, words: str, **values: Any) -> Insert:
    return Insert(TRANSCRIPT_SEARCH, filled(TRANSCRIPT_SEARCH, transcript_id=transcript_id, words=words, **values))
