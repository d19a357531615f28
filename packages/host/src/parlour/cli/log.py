"""Sets up the log of a process. The secrets of the settings are redacted from the first line on."""

import logging
import sys
import threading
from types import TracebackType

from parlour.app import log_setup
from parlour.app.settings import HostSettings, secret_values
from parlour.core.redaction import REDACTOR

logger = logging.getLogger(__name__)


def set_up_logging(settings: HostSettings) -> None:
    """Sets up the log on standard error, and logs unhandled exceptions."""
    for secret in secret_values(settings):
        REDACTOR.add_secret(secret)
    log_setup.configure_logging(settings.logs, None)
    sys.excepthook = _log_unhandled
    threading.excepthook = lambda told: _log_unhandled(
        told.exc_type, told.exc_value or told.exc_type(), told.exc_traceback
    )


def _in_thread(told: threading.ExceptHookArgs) -> None:
    _log_unhandled(told.exc_type, told.exc_value or told.exc_type(), told.exc_traceback)


def _log_unhandled(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Logs an unhandled exception, so that secrets in it are redacted."""
    logger.critical("unhandled exception; the process or thread exits", exc_info=(kind, error, trace))
