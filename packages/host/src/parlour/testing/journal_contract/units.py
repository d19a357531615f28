"""Tests that a unit is carried out completely or not at all, and accepts any text, blob and number."""

import asyncio

import pytest

from parlour.core.journal import (
    ANY,
    Delete,
    GuardFailed,
    Increment,
    Insert,
    Journal,
    Receipt,
    Ref,
    Select,
    Statement,
    Unit,
    Update,
    one_of,
    where,
)
from parlour.core.store.tables import EVENTS, INBOX, META, STATE, STORAGE

from .samples import NumberedRows, commit, contents, event, filled, insert, meta, names

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


class Units(NumberedRows):
    async def test_what_was_committed_is_read_back(self, journal: Journal) -> None:
        assert list(await commit(journal, meta("greeting", "héllo 🎉\0end"))) == [[]]
        assert await contents(journal, META) == [{"name": "greeting", "value": "héllo 🎉\0end"}]

    async def test_a_unit_that_may_wait_is_carried_out_too(self, journal: Journal) -> None:
        receipt = await journal.commit(Unit("test", (meta("a"), meta("b")), can_batch=True))
        assert [list(rows) for rows in receipt] == [[], []]
        assert await names(journal) == ["a", "b"]
        with pytest.raises(GuardFailed):
            await journal.commit(Unit("test", (meta("a"),), can_batch=True))

    @pytest.mark.parametrize("text", HARD_TEXTS.values(), ids=HARD_TEXTS)
    async def test_every_text_is_kept_returned_and_found(self, journal: Journal, text: str) -> None:
        insertion = Insert(STATE, filled(STATE, scope_key="k", name=text, value=text), returning=("name", "value"))
        put_again = Insert(META, {"name": Ref(0, "name"), "value": Ref(0, "value")})
        assert list(await commit(journal, insertion, put_again)) == [[{"name": text, "value": text}], []]
        assert await contents(journal, META) == [{"name": text, "value": text}]
        for point_read in (False, True):
            [stored_row] = await journal.read(
                Select(STATE, where(scope_key="k", name=text), ("value",), point_read=point_read)
            )
            assert stored_row == {"value": text}
        await commit(journal, Update(META, {"value": ""}, where(name=one_of(text, "other"), value=text)))

    async def test_a_long_text_is_kept(self, journal: Journal) -> None:
        text = "long " * 200_000
        await commit(journal, meta("a", text))
        assert await contents(journal, META) == [{"name": "a", "value": text}]

    @pytest.mark.parametrize("blob", [b"", b"\0", ALL_BYTES], ids=["empty", "NUL", "every byte"])
    async def test_every_blob_is_kept_returned_and_found(self, journal: Journal, blob: bytes) -> None:
        insertion = Insert(STORAGE, filled(STORAGE, name="n", value=blob), returning=("value", "name"))
        copied = insert(STORAGE, name="again", value=Ref(0, "value"))
        assert (await commit(journal, insertion, copied))[0] == [{"value": blob, "name": "n"}]
        for point_read in (False, True):
            rows = await journal.read(
                Select(STORAGE, where(value=blob), ("name", "value"), order=("name",), point_read=point_read)
            )
            assert rows == [{"name": "again", "value": blob}, {"name": "n", "value": blob}]
        await commit(journal, Delete(STORAGE, where(value=one_of(blob)), expect=2))

    @pytest.mark.parametrize("number", [0, -1, 2**53 + 1, 2**63 - 1, -(2**63), True])
    async def test_every_number_of_64_bits_is_kept_returned_and_found(self, journal: Journal, number: int) -> None:
        insertion = Insert(INBOX, filled(INBOX, event_seq=number, attempts=7), returning=("event_seq",))
        [[row], _] = await commit(
            journal, insertion, Update(INBOX, {"attempts": number}, where(event_seq=Ref(0, "event_seq")))
        )
        assert row == {"event_seq": int(number)}
        for point_read in (False, True):
            query = Select(
                INBOX, where(attempts=number, event_seq=one_of(number)), ("attempts",), point_read=point_read
            )
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
        assert list(receipt) == [[{"seq": self.number(1)}], [], [{"seq": self.number(2)}]]

    async def test_a_reference_carries_a_number_to_later_statements(self, journal: Journal) -> None:
        await commit(journal, event("earlier"))
        inbox_row = insert(INBOX, event_seq=Ref(0, "seq"), lane="lane")
        attempt = Update(INBOX, {"attempts": Increment(3), "state": Ref(0, "event_id")}, where(event_seq=Ref(0, "seq")))
        event_row = Insert(EVENTS, filled(EVENTS, event_id="e"), returning=("seq", "event_id"))
        await commit(journal, event_row, inbox_row, attempt)
        rows = await journal.read(Select(INBOX, columns=("event_seq", "attempts", "state")))
        assert rows == [{"event_seq": self.number(2), "attempts": 3, "state": "e"}]

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

    async def test_what_is_foreseen_comes_true_and_a_guard_that_fails_is_never_foreseen(self, journal: Journal) -> None:
        foreseen: list[Receipt] = []
        receipt = await journal.commit(Unit("step", (meta("a"), event("1"))), foreseen.append)
        assert foreseen in ([], [receipt])  # not every database can know this before
        with pytest.raises(GuardFailed):
            await journal.commit(Unit("step", (event("2"), meta("a"))), foreseen.append)
        assert foreseen in ([], [receipt])

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
