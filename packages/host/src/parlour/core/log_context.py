"""Adds the id of the current run to log lines, in whichever module they are written."""

import logging
from contextlib import suppress
from contextvars import ContextVar

_RUN: ContextVar[str] = ContextVar("run", default="")
"""The run of the current task. A log record has no other way to reach the filter from any module."""


class run_log_context:  # noqa: N801 - it is used like a function in a `with` statement
    """Context manager that marks log lines of this context with a run's id."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    def __enter__(self) -> None:
        self._token = _RUN.set(self._run_id)

    def __exit__(self, *failure: object) -> None:
        with suppress(ValueError):  # unfinished work may be closed in another context than it was started in
            _RUN.reset(self._token)


def add_run_id(record: logging.LogRecord) -> bool:
    """Log filter that sets `run_id` on the record."""
    record.run_id = _RUN.get()
    return True
