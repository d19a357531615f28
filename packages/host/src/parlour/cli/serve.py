"""`parlour serve`: runs the Host in this process until SIGTERM."""

import asyncio
import contextlib
import logging
from dataclasses import replace
from functools import partial

from parlour.app import log_setup, settings_file
from parlour.app.data_directory import DataDirectory, DataDirectoryInUse, DataDirectoryUnusable
from parlour.app.host import HostExtensions
from parlour.app.server import PortInUse, serve
from parlour.app.settings import HostSettings
from parlour.app.settings_loader import default_settings_file
from parlour.core.journal import StorageFailed
from parlour.core.redaction import Redactor
from parlour.providers.tracing import TracingMissing

from .event_loop import loop_factory
from .log import set_up_logging
from .main import CommandError


def run(settings: HostSettings, additions: HostExtensions | None = None) -> None:
    redactor = set_up_logging(settings)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            additions = replace(additions or HostExtensions(), on_locked=partial(_on_locked, redactor))
            runner.run(serve(settings, _announce, additions, redactor))
    except (PortInUse, DataDirectoryInUse, DataDirectoryUnusable, TracingMissing) as error:
        raise CommandError(str(error)) from error
    except StorageFailed as error:
        raise CommandError(redactor.redact(error.message)) from error


def _on_locked(redactor: Redactor, settings: HostSettings) -> None:
    """Adds the log file, and writes the settings file with all defaults if there is none."""
    directory = DataDirectory(settings.data)
    if settings.logs.files:
        log_setup.configure_logging(settings.logs, directory.logs, redactor)
    with contextlib.suppress(OSError):  # the Host runs without a settings file
        settings_file.write(default_settings_file(directory.path))


def _announce(address: str, notice: str) -> None:
    print("\n".join(filter(None, (f"Parlour is at {address}", notice))), flush=True)
