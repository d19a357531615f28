"""Which run a line of the log is about: known to whoever works for it, wherever it is written."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

_RUN: ContextVar[str] = ContextVar("run", default="")


@contextmanager
def about_run(run_id: str) -> Iterator[None]:
    token = _RUN.set(run_id)
    try:
        yield
    finally:
        with suppress(ValueError):  # work that is thrown away unfinished ends in whatever context that happens in
            _RUN.reset(token)


def with_run(record: logging.LogRecord) -> bool:
    """A filter that notes the run on the line."""
    record.run_id = _RUN.get()
    return True
