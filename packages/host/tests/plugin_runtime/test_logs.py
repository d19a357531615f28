"""The log of a plugin is bounded in number, length and rate, for any division into pieces."""

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


class PieceReader(asyncio.StreamReader):
    """Returns the bytes piece by piece, like a pipe."""

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__()
        self._pieces = [piece for piece in pieces if piece]

    async def read(self, n: int = -1) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""


async def read_lines(*pieces: bytes, file: LogFile | None = None) -> list[str]:
    buffer = LogBuffer(Redactor(), file)
    await buffer.read_stream(PieceReader(list(pieces)))
    return buffer.lines()


async def test_lines_are_kept_in_order_with_an_unterminated_last_line() -> None:
    assert await read_lines(b"one\ntw", b"o\nthree") == ["one", "two", "three"]


async def test_only_the_last_lines_are_kept() -> None:
    lines = await read_lines(b"".join(b"%d\n" % number for number in range(MAX_LINES + 10)))
    assert (len(lines), lines[0], lines[-1]) == (MAX_LINES, "10", str(MAX_LINES + 9))


def test_the_last_line_is_searched_only_after_the_given_position() -> None:
    log = LogBuffer(Redactor())
    log.add(["of one", " "])
    began = log.count

    assert log.last_line(after=began) == ""
    log.add(["of another", ""])
    assert log.last_line(after=began) == "of another"
    log.add([""] * MAX_LINES)
    assert log.last_line(after=began) == ""


def test_an_excerpt_is_short_and_has_no_control_characters() -> None:
    assert printable_excerpt("\x1b[2J\x1b]0;all is well\x07 it\u2028broke\r\n") == " [2J ]0;all is well  it broke  "
    assert printable_excerpt("x" * 501) == "x" * 500


async def test_the_beginning_of_an_endless_line_is_kept() -> None:
    assert await read_lines(b"begin", *[b"x" * 50_000] * 10) == [
        ("begin" + "x" * MAX_LINE_CHARACTERS)[:MAX_LINE_CHARACTERS]
    ]


async def test_a_long_line_is_cut_and_the_next_one_is_whole() -> None:
    assert await read_lines(b"x" * 50_000 + b"\nnext\n") == ["x" * MAX_LINE_CHARACTERS, "next"]


async def test_invalid_bytes_are_replaced() -> None:
    assert await read_lines(b"a\xffb\n") == ["a\ufffdb"]


FLOOD = b"".join(b"line %07d\n" % number for number in range(4000))
"""The flood has 64 KiB, which is the size of one read."""


async def test_a_flood_keeps_its_beginning_its_last_line_and_the_number_of_dropped_lines(
    tmp_path: Path,
) -> None:
    await read_lines(*[FLOOD] * 100, b"last words\n", file=LogFile(tmp_path / "log", 5, 100 * MAX_BURST_BYTES))

    lines = [line.partition(" ")[2] for line in (tmp_path / "log").read_text().splitlines()]
    assert lines[:4000] == FLOOD.decode().splitlines()
    assert lines[-1] == "last words"
    notices = [line for line in lines if "dropped" in line]
    dropped = sum(int(notice.removeprefix("(").split()[0]) for notice in notices)
    stored_lines = sum(line.startswith("line ") for line in lines)
    assert stored_lines < 200_000, "the slower the machine, the more"
    assert 0 <= dropped + stored_lines - 400_000 < 2000 * len(notices), (
        "the last of those that were dropped are shown after all"
    )


async def test_a_flood_uses_little_cpu_and_is_read_quickly() -> None:
    blocks = MAX_READ_BYTES_PER_SECOND // len(FLOOD)
    cpu, started_at = time.process_time(), time.monotonic()

    await read_lines(*[FLOOD] * blocks)

    assert time.process_time() - cpu < 0.5
    assert 0.5 < time.monotonic() - started_at < 20


async def test_a_flood_of_empty_lines_is_bounded_too(tmp_path: Path) -> None:
    await read_lines(*[b"\n" * 65536] * 200, file=LogFile(tmp_path / "log", 5, 100 * MAX_BURST_BYTES))

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
def test_text_does_not_depend_on_where_it_was_cut(lines: list[str], size: int) -> None:
    written = "".join(f"{line}\n" for line in lines).encode()
    pieces = [written[start : start + size] for start in range(0, len(written), size)]
    assert asyncio.run(read_lines(*pieces)) == lines
