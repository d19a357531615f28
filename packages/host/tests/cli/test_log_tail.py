"""Tests the tail of a plugin's log: only new and complete lines, also after a log rotation."""

from pathlib import Path

from parlour.cli.plugin_commands.log_tail import LogTail
from parlour.plugin_runtime.process.log_file import LogFile


def without_time_stamps(lines: list[str]) -> list[str]:
    """Returns the lines without their time stamps."""
    return [line.partition(" ")[2] for line in lines]


def test_lines_from_before_the_start_are_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "x.log"
    file.write_text("t old\n")
    tail = LogTail(file)

    with file.open("a") as opened:
        opened.write("t new\n")

    assert without_time_stamps(tail.read_lines()) == ["new"]
    assert tail.read_lines() == []


def test_a_log_that_is_created_later_is_shown_from_its_beginning(tmp_path: Path) -> None:
    tail = LogTail(tmp_path / "later" / "x.log")
    assert tail.read_lines() == []

    LogFile(tmp_path / "later" / "x.log", 2, 1024).write(["first", "second"])

    assert without_time_stamps(tail.read_lines()) == ["first", "second"]


def test_an_incomplete_line_is_shown_when_it_is_complete(tmp_path: Path) -> None:
    file = tmp_path / "x.log"
    file.write_text("")
    tail = LogTail(file)

    with file.open("ab", 0) as opened:
        opened.write(b"t hal")
        assert tail.read_lines() == []
        opened.write(b"f\nt w")
        assert without_time_stamps(tail.read_lines()) == ["half"]


def test_no_line_is_lost_or_repeated_by_a_log_rotation(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "x.log", files=3, bytes_each=100)
    tail = LogTail(tmp_path / "x.log")
    shown: list[str] = []
    for number in range(50):
        log.write([f"line {number}"])
        shown += without_time_stamps(tail.read_lines())

    assert shown == [f"line {number}" for number in range(50)]
    assert (tmp_path / "x.log.2").exists()
