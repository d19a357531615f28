"""Which run a line of the log is about: known to whoever works for it, wherever it is written."""

import logging
from contextlib import suppress
from contextvars import ContextVar

_RUN: ContextVar[str] = ContextVar("run", default="")


class about_run:  # noqa: N801 - it reads as a word of the `with` it stands in
    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    def __enter__(self) -> None:
        self._token = _RUN.set(self._run_id)

    def __exit__(self, *failure: object) -> None:
        with suppress(ValueError):  # work that is thrown away unfinished ends in whatever context that happens in
            _RUN.reset(self._token)


def with_run(record: logging.LogRecord) -> bool:
    """A filter that notes the run on the line."""
    record.run_id = _RUN.get()
    return True
