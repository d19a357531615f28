"""Cursors are opaque and valid only for their list and database."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.pagination import Cursors, InvalidCursor

positions = st.integers() | st.text()


@given(st.text(), st.text(), positions)
def test_cursor_decodes_to_its_position(database: str, listing: str, position: int | str) -> None:
    cursors = Cursors(database)
    assert cursors.decode(listing, cursors.encode(listing, position)) == position


@given(positions)
def test_cursor_is_safe_in_a_url(position: int | str) -> None:
    cursor = Cursors("db").encode("runs", position)
    assert cursor.replace("-", "").replace("_", "").isalnum()


@given(positions, st.text(min_size=1))
def test_cursor_of_another_list_is_refused(position: int | str, other: str) -> None:
    cursors = Cursors("db")
    with pytest.raises(InvalidCursor):
        cursors.decode("runs" + other, cursors.encode("runs", position))


def test_cursor_of_another_database_is_refused() -> None:
    with pytest.raises(InvalidCursor):
        Cursors("one").decode("runs", Cursors("two").encode("runs", 5))


@given(positions, st.data())
def test_modified_cursor_is_refused(position: int | str, data: st.DataObject) -> None:
    cursors = Cursors("db")
    cursor = cursors.encode("runs", position)
    raw = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(InvalidCursor):
        cursors.decode("runs", base64.urlsafe_b64encode(raw).decode().rstrip("="))


@given(st.text())
def test_invalid_cursor_is_refused_with_advice(text: str) -> None:
    with pytest.raises(InvalidCursor, match="start again without one"):
        Cursors("db").decode("runs", text)
