"""Following a plugin's log: only what is new, whole lines, and on into the file that takes its place."""

from pathlib import Path

from parlour.cli.plugin_commands.log_tail import LogTail
from parlour.plugin_runtime.process.log_file import LogFile


def words(lines: list[str]) -> list[str]:
    """Without the time that each line begins with."""
    return [line.partition(" ")[2] for line in lines]


def test_what_was_there_before_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "x.log"
    file.write_text("t old\n")
    tail = LogTail(file)

    with file.open("a") as opened:
        opened.write("t new\n")

    assert words(tail.read_lines()) == ["new"]
    assert tail.read_lines() == []


def test_a_log_that_begins_later_is_shown_from_its_beginning(tmp_path: Path) -> None:
    tail = LogTail(tmp_path / "later" / "x.log")
    assert tail.read_lines() == []

    LogFile(tmp_path / "later" / "x.log", 2, 1024).write(["first", "second"])

    assert words(tail.read_lines()) == ["first", "second"]


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    file = tmp_path / "x.log"
    file.write_text("")
    tail = LogTail(file)

    with file.open("ab", 0) as opened:
        opened.write(b"t hal")
        assert tail.read_lines() == []
        opened.write(b"f\nt w")
        assert words(tail.read_lines()) == ["half"]


def test_no_line_is_lost_or_repeated_when_the_file_is_renewed(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "x.log", files=3, bytes_each=100)
    tail = LogTail(tmp_path / "x.log")
    shown: list[str] = []
    for number in range(50):
        log.write([f"line {number}"])
        shown += words(tail.read_lines())

    assert shown == [f"line {number}" for number in range(50)]
    assert (tmp_path / "x.log.2").exists()
