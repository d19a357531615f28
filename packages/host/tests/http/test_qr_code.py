"""Tests the QR codes: a whole small symbol, and that each one can be read back from its modules."""

import pytest

from parlour.http.bots.qr_code import MAX_VERSION, qr_rows

# the symbol of the text `aaaaaaaaaaaaaa` (14 bytes fill version 1 at level M), as other encoders draw it
FULL = (
    "111111100101001111111",
    "100000100100101000001",
    "101110101000101011101",
    "101110101110001011101",
    "101110101110101011101",
    "100000101010101000001",
    "111111101010101111111",
    "000000001111100000000",
    "101111100110101111100",
    "000110011100000110101",
    "000110100111110001110",
    "111011010111110001110",
    "001000111010101100000",
    "000000001110000110101",
    "111111100001110001110",
    "100000101001110001101",
    "101110101110101100011",
    "101110101100000110100",
    "101110101101110001100",
    "100000100001110001100",
    "111111101100101100010",
)


def test_a_small_symbol_is_that_of_other_encoders() -> None:
    assert tuple(qr_rows("a" * 14)) == FULL


@pytest.mark.parametrize("size", [1, 14, 15, 62, 106, 180, 300, 500, 666])
def test_a_symbol_has_the_patterns_that_scanners_look_for(size: int) -> None:
    rows = qr_rows("x" * size)
    version, rest = divmod(len(rows) - 17, 4)
    assert rest == 0
    assert 1 <= version <= MAX_VERSION
    finder = ("1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111")
    for top, left in ((0, 0), (0, len(rows) - 7), (len(rows) - 7, 0)):
        assert tuple(row[left : left + 7] for row in rows[top : top + 7]) == finder
    timing = rows[6][8:-8]
    assert timing == ("10" * len(timing))[: len(timing)]


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        qr_rows("x" * 700)
