"""Deletes folders in which commands have worked that may have made parts of them unwritable."""

import logging
import os
from collections.abc import Callable

logger = logging.getLogger(__name__)

FOLDER_MODE = 0o700


def make_deletable(remove: Callable[..., object], path: str, info: object) -> None:
    """Repeats a removal that failed because a command has made a folder unwritable."""
    try:
        os.chmod(os.path.dirname(path), FOLDER_MODE)
        os.chmod(path, FOLDER_MODE)
        remove(path)
    except OSError as error:
        logger.warning("a file of a workspace could not be deleted: %s", error.strerror)
