"""Tests the Host's log: lines name their run, files are rotated by day and size, and secrets are removed."""

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
from parlour.core.redaction import Redactor

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


def test_a_json_line_has_its_run_and_trace(tmp_path: Path) -> None:
    log_setup.configure_logging(LogSettings(format="json"), tmp_path, Redactor())

    with run_log_context(RUN):
        logging.getLogger("parlour.test").warning("the %s is wet", "cellar")
    logging.getLogger("parlour.test").info("without a run")

    first, second = (json.loads(line) for line in lines(tmp_path))
    assert (first["message"], first["level"], first["run_id"]) == ("the cellar is wet", "warning", RUN)
    assert first["trace_id"] == RUN.replace("-", "")
    assert "run_id" not in second


def test_a_traceback_is_logged_without_secrets(tmp_path: Path) -> None:
    redactor = Redactor()
    redactor.add_secret("a secret of the test")
    log_setup.configure_logging(LogSettings(format="json"), tmp_path, redactor)

    try:
        raise RuntimeError("a secret of the test")
    except RuntimeError:
        logging.getLogger("parlour.test").exception("with Bearer abcdefghijklmnop")

    [line] = lines(tmp_path)
    assert "RuntimeError" in json.loads(line)["exception"]
    assert "a secret of the test" not in line
    assert "abcdefghijklmnop" not in line


def test_a_full_file_is_rotated_and_the_oldest_is_deleted(tmp_path: Path) -> None:
    log_setup.configure_logging(LogSettings(files=2, file_bytes=1024), tmp_path, Redactor())

    for number in range(100):
        logging.getLogger("parlour.test").info("line %d %s", number, "x" * 100)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["host.log", "host.log.1", "host.log.2"]
    assert all(path.stat().st_size <= 1024 for path in tmp_path.iterdir())
    assert lines(tmp_path)[-1].endswith("line 99 " + "x" * 100)


def test_a_new_day_starts_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "host.log").write_text("yesterday\n")
    yesterday = (datetime.now(UTC) - timedelta(days=1)).timestamp()
    os.utime(tmp_path / "host.log", (yesterday, yesterday))
    log_setup.configure_logging(LogSettings(), tmp_path, Redactor())

    logging.getLogger("parlour.test").info("today")

    assert (tmp_path / "host.log.1").read_text() == "yesterday\n"
    assert [line.endswith("today") for line in lines(tmp_path)] == [True]


def test_a_text_line_has_its_run(tmp_path: Path) -> None:
    log_setup.configure_logging(LogSettings(), tmp_path, Redactor())

    with run_log_context(RUN):
        logging.getLogger("parlour.test").info("hello")

    assert lines(tmp_path)[0].endswith(f"parlour.test: hello [run {RUN}]")


def test_line_breaks_and_control_characters_in_a_message_are_escaped(tmp_path: Path) -> None:
    log_setup.configure_logging(LogSettings(), tmp_path, Redactor())

    logging.getLogger("parlour.test").warning("received: %s", "no\n2026-01-01 ERROR parlour: forged\x1b[2J 好")

    [line] = lines(tmp_path)
    assert line.endswith(r"received: no\n2026-01-01 ERROR parlour: forged\x1b[2J 好")


def test_a_run_context_can_be_closed_in_another_context(tmp_path: Path) -> None:
    log_setup.configure_logging(LogSettings(format="json"), tmp_path, Redactor())

    def work() -> Generator[None, None, None]:
        with run_log_context(RUN):
            yield

    abandoned = work()
    copy_context().run(next, abandoned)
    abandoned.close()
    logging.getLogger("parlour.test").info("after the run")

    [line] = lines(tmp_path)
    assert "run_id" not in json.loads(line)
