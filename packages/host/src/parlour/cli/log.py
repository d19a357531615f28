"""Begins a process's log: what the settings hold secret is known before the first line is written."""

from parlour import logs
from parlour.config import Settings, secrets
from parlour.core.redaction import REDACTOR
from parlour.data_directory import DataDirectory, DataDirectoryUnusable


def keep_log(settings: Settings, in_files: bool = False) -> None:
    """In files of the data directory too, unless that can't be used: whoever needs it says so."""
    for secret in secrets(settings):
        REDACTOR.know(secret)
    logs.keep(settings.logs, None)
    if in_files and settings.logs.files:
        try:
            logs.keep(settings.logs, DataDirectory(settings.data).logs)
        except DataDirectoryUnusable:
            return
