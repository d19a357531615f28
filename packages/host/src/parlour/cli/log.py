"""Sets up the log of a process. The secrets of the settings are redacted from the first line on."""

import logging
import sys
import threading
from types import TracebackType

from parlour.app import log_setup
from parlour.app.settings import Settings, secrets
from parlour.core.redaction import REDACTOR

logger = logging.getLogger(__name__)


def keep_log(settings: Settings) -> None:
    """Sets up the log on standard error, and logs unhandled exceptions."""
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
    """Logs an unhandled exception, so that secrets in it are redacted."""
    logger.critical("unhandled exception; the process or thread exits", exc_info=(kind, error, trace))
