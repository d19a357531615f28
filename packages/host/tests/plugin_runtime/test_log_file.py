"""A plugin's log on disk has the time of each line and bounded files; a failing disk is no failure of the plugin."""

import logging
import re
from pathlib import Path

import pytest

from parlour.plugin_runtime.process.log_file import LogFile


def messages(path: Path) -> list[str]:
    return [line.partition(" ")[2] for line in path.read_text().splitlines()]


def test_lines_are_written_with_their_time_and_missing_folders_are_created(tmp_path: Path) -> None:
    path = tmp_path / "plugins" / "acme" / "hello.log"
    LogFile(path, 5, 1000).write(["one", "zwei: ü"])

    first, second = path.read_text().splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z one", first)
    assert second.endswith(" zwei: ü")
    assert path.stat().st_mode & 0o077 == 0


def test_an_existing_file_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "hello.log"
    LogFile(path, 5, 1000).write(["one"])
    LogFile(path, 5, 1000).write(["two"])

    assert messages(path) == ["one", "two"]


def test_full_files_are_rotated_and_the_oldest_is_deleted(tmp_path: Path) -> None:
    path = tmp_path / "hello.log"
    file = LogFile(path, 3, 100)
    for number in range(12):
        file.write([f"line {number:02}", "x" * 60])

    assert sorted(each.name for each in tmp_path.iterdir()) == ["hello.log", "hello.log.1", "hello.log.2"]
    newest = [messages(tmp_path / name)[-2] for name in ("hello.log", "hello.log.1", "hello.log.2")]
    assert newest == ["line 11", "line 10", "line 09"]


def test_a_full_file_of_an_earlier_run_is_rotated(tmp_path: Path) -> None:
    path = tmp_path / "hello.log"
    path.write_text("x" * 200)
    file = LogFile(path, 2, 100)
    file.write(["one"])
    file.write(["two"])

    assert messages(path) == ["two"]


def test_a_single_full_file_is_started_over(tmp_path: Path) -> None:
    file = LogFile(tmp_path / "hello.log", 1, 100)
    for number in range(5):
        file.write([f"line {number}", "x" * 100])

    assert messages(tmp_path / "hello.log")[0] == "line 4"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_failed_write_is_logged_once_and_raises_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "plugins").write_text("a file where a folder should be")
    file = LogFile(tmp_path / "plugins" / "hello.log", 5, 100)

    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            file.write(["lost"])

    assert len(caplog.messages) == 1
    assert "hello.log can't be written for now" in caplog.messages[0]


def test_invalid_characters_are_replaced(tmp_path: Path) -> None:
    LogFile(tmp_path / "hello.log", 5, 100).write(["a\ud800b"])

    assert messages(tmp_path / "hello.log") == ["a?b"]
