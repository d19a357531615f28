"""`parlour serve`: runs the Host in this process until SIGTERM."""

import asyncio
import contextlib
import logging
from dataclasses import replace

from parlour.app import log_setup, settings_file
from parlour.app.data_directory import AlreadyServed, DataDirectory, DataDirectoryUnusable
from parlour.app.host import Additions
from parlour.app.server import PortTaken, serve
from parlour.app.settings import Settings
from parlour.app.settings_loader import own_file
from parlour.core.journal import StorageFailed
from parlour.core.redaction import REDACTOR
from parlour.providers.tracing import TracingMissing

from .event_loop import loop_factory
from .log import keep_log
from .main import CommandFailed


def run(settings: Settings, additions: Additions) -> None:
    keep_log(settings)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(serve(settings, _announce, replace(additions, settle_in=_settle_in)))
    except (PortTaken, AlreadyServed, DataDirectoryUnusable, TracingMissing) as error:
        raise CommandFailed(str(error)) from error
    except StorageFailed as error:
        raise CommandFailed(REDACTOR.clean(error.message)) from error


def _settle_in(settings: Settings) -> None:
    """Adds the log file, and writes the settings file with all defaults if there is none."""
    directory = DataDirectory(settings.data)
    if settings.logs.files:
        log_setup.keep(settings.logs, directory.logs)
    with contextlib.suppress(OSError):  # the Host runs without a settings file
        settings_file.write(own_file(directory.path))


def _announce(address: str, notice: str) -> None:
    print("\n".join(filter(None, (f"Parlour is at {address}", notice))), flush=True)
