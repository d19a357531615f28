"""`parlour serve` and `parlour start`: run the Host in this process until SIGTERM."""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Callable, Mapping
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

Announce = Callable[[str, str], None]
"""Gets the Host's address and a notice for the operator, which may be empty."""
SYSTEM_SUFFICES = hasattr(os, "O_DIRECTORY") and hasattr(os, "pread")
"""Files are opened relative to folders that are held open, which Windows does not offer."""
UNSUITABLE_SYSTEM = (
    "the Host runs on Linux and macOS. On Windows, start it in WSL 2 or in a container: "
    "https://learn.microsoft.com/windows/wsl/install"
)


def start(settings: HostSettings) -> None:
    """Runs the Host as `parlour serve` does, says where its data is, and opens its page if the user has a browser."""

    def announce(address: str, notice: str) -> None:
        _announce(address, notice)
        print(f"its data: {settings.data.absolute()}", flush=True)
        if has_browser(os.environ, sys.platform):
            import webbrowser

            webbrowser.open(address)

    run(settings, announce=announce)


def run(settings: HostSettings, additions: HostExtensions | None = None, announce: Announce | None = None) -> None:
    if not SYSTEM_SUFFICES:
        raise CommandError(UNSUITABLE_SYSTEM)
    redactor = set_up_logging(settings)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            additions = replace(additions or HostExtensions(), on_locked=partial(_on_locked, redactor))
            runner.run(serve(settings, announce or _announce, additions, redactor))
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


def has_browser(environment: Mapping[str, str], platform: str) -> bool:
    """Returns true where a person sits before a screen: not in a service, a container or over SSH."""
    if not sys.stdout.isatty() or "SSH_CONNECTION" in environment:
        return False
    return platform in ("darwin", "win32") or bool({"DISPLAY", "WAYLAND_DISPLAY"} & set(environment))


def _announce(address: str, notice: str) -> None:
    print("\n".join(filter(None, (f"Parlour is at {address}", notice))), flush=True)
