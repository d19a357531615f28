"""The Host's log: its lines tell their run, its files end with the day or their size, and no secret is in them."""

import json
import logging
import os
from collections.abc import Generator, Iterator
from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from parlour.app import log_setup
from parlour.app.settings import LogSettings
from parlour.core.log_context import run_log_context
from parlour.core.redaction import REDACTOR

RUN = "01a1e22a-6102-709f-996d-ca3dbfe96881"


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(folder: Path) -> list[str]:
    return (folder / "host.log").read_text().splitlines()


def test_a_line_of_json_tells_its_run_and_its_trace(tmp_path: Path) -> None:
    log_setup.configure_logging(LogSettings(format="json"), tmp_path)

    with run_log_context(RUN):
        logging.getLogger("parlour.test").warning("the %s is wet", "cellar")
    logging.getLogger("parlour.test").info("nobody's")

    first, second = (json.loads(line) for line in lines(tmp_path))
    assert (first["message"], first["level"], first["run_id"]) == ("the cellar is wet", "warning", RUN)
    assert first["trace_id"] == RUN.replace("-", "")
    assert "run_id" not in second


def test_a_traceback_is_on_the_line_and_secrets_are_not(tmp_path: Path) -> None:
    REDACTOR.add_secret("a secret of the test")
    log_setup.configure_logging(LogSettings(format="json"), tmp_path)

    try:
        raise RuntimeError("a secret of the test")
    except RuntimeError:
        logging.getLogger("parlour.test").exception("with Bearer abcdefghijklmnop")

    [line] = lines(tmp_path)
    assert "RuntimeError" in json.loads(line)["exception"]
    assert "a secret of the test" not in line
    assert "abcdefghijklmnop" not in line


def test_a_file_that_is_full_makes_room_for_the_next_and_the_oldest_goes(tmp_path: Path) -> None:
    log_setup.configure_logging(LogSettings(files=2, file_bytes=1024), tmp_path)

    for number in range(100):
        logging.getLogger("parlour.test").info("line %d %s", number, "x" * 100)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["host.log", "host.log.1", "host.log.2"]
    assert all(path.stat().st_size <= 1024 for path in tmp_path.iterdir())
    assert lines(tmp_path)[-1].endswith("line 99 " + "x" * 100)


def test_a_new_day_has_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "host.log").write_text("yesterday\n")
    yesterday = (datetime.now(UTC) - timedelta(days=1)).timestamp()
    os.utime(tmp_path / "host.log", (yesterday, yesterday))
    log_setup.configure_logging(LogSettings(), tmp_path)

    logging.getLogger("parlour.test").info("today")

    assert (tmp_path / "host.log.1").read_text() == "yesterday\n"
    assert [line.endswith("today") for line in lines(tmp_path)] == [True]


def test_a_line_of_text_tells_its_run(tmp_path: Path) -> None:
    log_setup.configure_logging(LogSettings(), tmp_path)

    with run_log_context(RUN):
        logging.getLogger("parlour.test").info("hello")

    assert lines(tmp_path)[0].endswith(f"parlour.test: hello [run {RUN}]")


def test_what_others_said_forges_no_line_and_commands_no_terminal(tmp_path: Path) -> None:
    log_setup.configure_logging(LogSettings(), tmp_path)

    logging.getLogger("parlour.test").warning("it said: %s", "no\n2026-01-01 ERROR parlour: forged\x1b[2J 好")

    [line] = lines(tmp_path)
    assert line.endswith(r"it said: no\n2026-01-01 ERROR parlour: forged\x1b[2J 好")


def test_a_runs_work_that_is_thrown_away_unfinished_ends_quietly_wherever_that_happens() -> None:
    def work() -> Generator[None, None, None]:
        with run_log_context(RUN):
            yield

    thrown_away = work()
    copy_context().run(next, thrown_away)
    thrown_away.close()
