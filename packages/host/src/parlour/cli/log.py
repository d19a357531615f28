"""Begins a process's log: what the settings hold secret is known before the first line is written."""

import logging
import sys
import threading
from types import TracebackType

from parlour.app import log_setup
from parlour.app.settings import Settings, secrets
from parlour.core.redaction import REDACTOR

logger = logging.getLogger(__name__)


def keep_log(settings: Settings) -> None:
    for secret in secrets(settings):
        REDACTOR.know(secret)
    log_setup.keep(settings.logs, None)
    sys.excepthook = _unexpected
    threading.excepthook = lambda told: _unexpected(
        told.exc_type, told.exc_value or told.exc_type(), told.exc_traceback
    )


def _in_thread(told: threading.ExceptHookArgs) -> None:
    _unexpected(told.exc_type, told.exc_value or told.exc_type(), told.exc_traceback)


def _unexpected(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Last words go through the log too, which knows what is secret."""
    logger.critical("nobody expected this: it ends the process or one of its threads", exc_info=(kind, error, trace))
