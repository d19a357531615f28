"""Where a process writes what it does: standard error, without secrets."""

import logging
import sys

from parlour.config import Settings, secrets
from parlour.core.redaction import REDACTOR, CleanFormatter

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def keep_log(settings: Settings) -> None:
    for secret in secrets(settings):
        REDACTOR.know(secret)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(CleanFormatter(FORMAT, REDACTOR.clean))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
