"""A disk that refuses, in words a person can act on. What was to be written there is the caller's to say."""

import contextlib
import errno
from collections.abc import Iterator

from parlour.core.model.plugin_manager import PluginProblem

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def problem(error: OSError, what: str, consequence: str = "") -> PluginProblem:
    """`what` is a sentence that lacks its reason, `consequence` another one."""
    full = error.errno in FULL
    remedy = "make room on the disk of" if full else "let the user that runs Parlour write to"
    told = (f"{what}: {error.strerror or error}", consequence, f"{remedy} the data directory and try again")
    return PluginProblem("storage_full" if full else "not_written", "; ".join(filter(None, told)))


@contextlib.contextmanager
def in_words(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise problem(error, what) from error
