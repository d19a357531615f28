"""Translates errors of the operating system into messages that an operator can act on. Paths go only to the log."""

import errno
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from parlour.core.journal import StorageFailed

logger = logging.getLogger(__name__)

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_MISPLACED = {errno.ELOOP, errno.ENOTDIR, errno.EISDIR}


def storage_failure(error: OSError) -> StorageFailed:
    logger.error("the artifact folder could not be used: %s", error)
    if error.errno in _NO_ROOM:
        return StorageFailed("storage_full", "There is no room to keep this file: free disk space or raise the limit.")
    if error.errno in _MISPLACED:
        sentence = (
            "The artifact folder holds a link or something else where only Parlour's own files may be; see its log."
        )
        return StorageFailed("storage_corrupt", sentence)
    return StorageFailed("storage_failed", f"The artifact folder can't be used: {error.strerror}.")


@contextmanager
def translate_os_errors() -> Iterator[None]:
    """Raises StorageFailed for an OSError in the block."""
    try:
        yield
    except OSError as error:
        raise storage_failure(error) from error
