"""Translates disk errors into problems that an operator can act on. Callers say what was to be written."""

import contextlib
import errno
from collections.abc import Iterator

from parlour.core.model.plugin_manager import PluginError

NO_SPACE_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def disk_error(error: OSError, operation: str, consequence: str = "") -> PluginError:
    """Returns the problem for a disk error.

    `operation` is a sentence that lacks its reason, `consequence` another sentence.
    """
    full = error.errno in NO_SPACE_ERRNOS
    remedy = "make room on the disk of" if full else "let the user that runs Parlour write to"
    texts = (f"{operation}: {error.strerror or error}", consequence, f"{remedy} the data directory and try again")
    return PluginError("storage_full" if full else "not_written", "; ".join(filter(None, texts)))


@contextlib.contextmanager
def translate_os_errors(operation: str) -> Iterator[None]:
    """Raises PluginError for an OSError in the block. `operation` is a sentence that lacks its reason."""
    try:
        yield
    except OSError as error:
        raise disk_error(error, operation) from error
