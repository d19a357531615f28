"""Sets up the log of a process. The secrets of the settings are redacted from the first line on."""

import logging
import sys
import threading
from types import TracebackType

from parlour.app import log_setup
from parlour.app.settings import HostSettings
from parlour.core.redaction import Redactor

logger = logging.getLogger(__name__)


def set_up_logging(settings: HostSettings) -> Redactor:
    """Sets up the log on standard error, and logs unhandled exceptions. Returns the redactor of the log."""
    redactor = log_setup.build_redactor(settings)
    log_setup.configure_logging(settings.logs, None, redactor)
    sys.excepthook = _log_unhandled
    threading.excepthook = _log_unhandled_in_thread
    return redactor


def _log_unhandled_in_thread(arguments: threading.ExceptHookArgs) -> None:
    _log_unhandled(arguments.exc_type, arguments.exc_value or arguments.exc_type(), arguments.exc_traceback)


def _log_unhandled(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Logs an unhandled exception, so that secrets in it are redacted."""
    logger.critical("unhandled exception; the process or thread exits", exc_info=(kind, error, trace))
