"""Begins a process's log: what the settings hold secret is known before the first line is written."""

from parlour import logs
from parlour.config import Settings, secrets
from parlour.core.redaction import REDACTOR


def keep_log(settings: Settings) -> None:
    for secret in secrets(settings):
        REDACTOR.know(secret)
    logs.keep(settings.logs, None)
