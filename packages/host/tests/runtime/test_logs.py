"""The last lines a plugin wrote: bounded in number and length, whatever arrives in which pieces."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from parlour.runtime.logs import LINE_CHARACTERS, LINES, LogBuffer


class Pieces(asyncio.StreamReader):
    """Gives what was written piece by piece, as a pipe does."""

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__()
        self._pieces = [piece for piece in pieces if piece]

    async def read(self, n: int = -1) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""


async def followed(*pieces: bytes) -> list[str]:
    buffer = LogBuffer()
    await buffer.follow(Pieces(list(pieces)))
    return buffer.lines()


async def test_lines_are_kept_in_order_also_the_last_one_without_an_end() -> None:
    assert await followed(b"one\ntw", b"o\nthree") == ["one", "two", "three"]


async def test_only_the_last_lines_are_kept() -> None:
    lines = await followed(b"".join(b"%d\n" % number for number in range(LINES + 10)))
    assert (len(lines), lines[0], lines[-1]) == (LINES, "10", str(LINES + 9))


async def test_a_line_without_an_end_does_not_fill_memory() -> None:
    lines = await followed(*[b"x" * 50_000] * 20)
    assert [len(line) for line in lines] == [LINE_CHARACTERS]


async def test_bytes_that_are_no_text_are_kept_as_best_as_can_be() -> None:
    assert await followed(b"a\xffb\n") == ["a\ufffdb"]


@given(st.lists(st.text(alphabet="aé日\U0001f600", max_size=5), min_size=1, max_size=5), st.integers(1, 5))
def test_text_is_whole_wherever_it_was_cut_into_pieces(lines: list[str], size: int) -> None:
    written = "".join(f"{line}\n" for line in lines).encode()
    pieces = [written[start : start + size] for start in range(0, len(written), size)]
    assert asyncio.run(followed(*pieces)) == lines
