"""What a plugin wrote: bounded in number, length and rate, whatever arrives in which pieces."""

import asyncio
import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from parlour.core.redaction import Redactor
from parlour.plugin_runtime.process.log_buffer import (
    MAX_BURST_BYTES,
    MAX_LINE_CHARACTERS,
    MAX_LINES,
    MAX_READ_BYTES_PER_SECOND,
    LogBuffer,
    printable_excerpt,
)
from parlour.plugin_runtime.process.log_file import LogFile


class Pieces(asyncio.StreamReader):
    """Gives what was written piece by piece, as a pipe does."""

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__()
        self._pieces = [piece for piece in pieces if piece]

    async def read(self, n: int = -1) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""


async def followed(*pieces: bytes, file: LogFile | None = None) -> list[str]:
    buffer = LogBuffer(Redactor(), file)
    await buffer.read_stream(Pieces(list(pieces)))
    return buffer.lines()


async def test_lines_are_kept_in_order_also_the_last_one_without_an_end() -> None:
    assert await followed(b"one\ntw", b"o\nthree") == ["one", "two", "three"]


async def test_only_the_last_lines_are_kept() -> None:
    lines = await followed(b"".join(b"%d\n" % number for number in range(MAX_LINES + 10)))
    assert (len(lines), lines[0], lines[-1]) == (MAX_LINES, "10", str(MAX_LINES + 9))


def test_last_words_are_looked_for_no_further_back_than_asked() -> None:
    log = LogBuffer(Redactor())
    log.add(["of one", " "])
    began = log.count

    assert log.last_line(after=began) == ""
    log.add(["of another", ""])
    assert log.last_line(after=began) == "of another"
    log.add([""] * MAX_LINES)
    assert log.last_line(after=began) == ""


def test_a_plugins_words_are_shown_in_brief_and_command_no_terminal() -> None:
    assert printable_excerpt("\x1b[2J\x1b]0;all is well\x07 it\u2028broke\r\n") == " [2J ]0;all is well  it broke  "
    assert printable_excerpt("x" * 501) == "x" * 500


async def test_of_a_line_without_an_end_its_beginning_is_kept() -> None:
    assert await followed(b"begin", *[b"x" * 50_000] * 10) == [
        ("begin" + "x" * MAX_LINE_CHARACTERS)[:MAX_LINE_CHARACTERS]
    ]


async def test_a_long_line_is_cut_and_the_next_one_is_whole() -> None:
    assert await followed(b"x" * 50_000 + b"\nnext\n") == ["x" * MAX_LINE_CHARACTERS, "next"]


async def test_bytes_that_are_no_text_are_kept_as_best_as_can_be() -> None:
    assert await followed(b"a\xffb\n") == ["a\ufffdb"]


FLOOD = b"".join(b"line %07d\n" % number for number in range(4000))
"""64 KiB, as much as is read at once."""


async def test_of_a_flood_the_beginning_and_the_last_words_are_kept_and_the_number_of_lost_lines(
    tmp_path: Path,
) -> None:
    await followed(*[FLOOD] * 100, b"last words\n", file=LogFile(tmp_path / "log", 5, 100 * MAX_BURST_BYTES))

    lines = [line.partition(" ")[2] for line in (tmp_path / "log").read_text().splitlines()]
    assert lines[:4000] == FLOOD.decode().splitlines()
    assert lines[-1] == "last words"
    notices = [line for line in lines if "dropped" in line]
    dropped = sum(int(notice.removeprefix("(").split()[0]) for notice in notices)
    kept = sum(line.startswith("line ") for line in lines)
    assert kept < 200_000, "the slower the machine, the more"
    assert 0 <= dropped + kept - 400_000 < 2000 * len(notices), (
        "the last of those that were dropped are shown after all"
    )


async def test_a_flood_costs_next_to_nothing_and_is_read_fast_enough_to_hold_nobody_up() -> None:
    blocks = MAX_READ_BYTES_PER_SECOND // len(FLOOD)
    cpu, begun = time.process_time(), time.monotonic()

    await followed(*[FLOOD] * blocks)

    assert time.process_time() - cpu < 0.5
    assert 0.5 < time.monotonic() - begun < 20


async def test_a_flood_of_empty_lines_is_bounded_too(tmp_path: Path) -> None:
    await followed(*[b"\n" * 65536] * 200, file=LogFile(tmp_path / "log", 5, 100 * MAX_BURST_BYTES))

    assert (tmp_path / "log").stat().st_size < 8 * MAX_BURST_BYTES


async def test_a_line_is_whole_after_a_flood() -> None:
    buffer = LogBuffer(Redactor())
    stream = asyncio.StreamReader()
    following = asyncio.create_task(buffer.read_stream(stream))
    for _ in range(40):
        stream.feed_data(FLOOD)
    stream.feed_data(b"cut in ")
    while "lines were dropped" not in "".join(buffer.lines()):
        stream.feed_data(b"two\nand whole\n")
        await asyncio.sleep(0.05)
    stream.feed_eof()
    await following

    after = buffer.lines()[[("dropped" in line) for line in buffer.lines()].index(True) + 1 :]
    assert set(after) <= {"two", "and whole"}


@given(st.lists(st.text(alphabet="aé日\U0001f600", max_size=5), min_size=1, max_size=5), st.integers(1, 5))
def test_text_is_whole_wherever_it_was_cut_into_pieces(lines: list[str], size: int) -> None:
    written = "".join(f"{line}\n" for line in lines).encode()
    pieces = [written[start : start + size] for start in range(0, len(written), size)]
    assert asyncio.run(followed(*pieces)) == lines
