"""`parlour plugin run`: installs a plugin into a running Host at every change of its files, and prints its log."""

import contextlib
import shlex
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from parlour.app.data_directory import DataDirectory
from parlour.app.settings import HostSettings
from parlour.core.model.ids import PluginId
from parlour.plugin_runtime.store import PluginStore

from .. import plugins
from ..main import CommandError
from . import plugin_python
from .file_watcher import FileWatcher
from .log_tail import LogTail
from .validate import validate_plugin

POLL_SECONDS = 0.3
"""Seconds between two polls of files, Host and logs."""


def run(settings: HostSettings, path: Path, remove: bool, grant: str) -> None:
    """Watches the plugin until it is interrupted."""
    session = DevelopmentSession(settings, path.expanduser().absolute(), grant)
    session.require_host()
    with _until_interrupted():
        session.watch()
    session.end(remove)


@contextlib.contextmanager
def _until_interrupted() -> Iterator[None]:
    """Ends the block without an error on SIGINT or SIGTERM.

    SIGINT works even if a shell that started the command in the background ignores it.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    with contextlib.suppress(KeyboardInterrupt):
        yield


class DevelopmentSession:
    """Keeps the newest working version of one plugin in a running Host while its author changes it."""

    def __init__(self, settings: HostSettings, path: Path, grant: str) -> None:
        self._settings = settings
        self._grant = grant
        self._path = path
        self._directory = DataDirectory(settings.data)
        self._pythons = plugin_python.interpreters_in(settings, self._directory.path / "environments")
        self._served = True
        self._logs: dict[PluginId, LogTail] = {}
        """Logs by plugin id, which the author may change."""

    def require_host(self) -> None:
        try:
            served = self._directory.serving_pid()
        except OSError as error:
            raise CommandError(f"{self._directory.path} can't be looked at: {error.strerror}") from error
        if served is None:
            raise CommandError(f"no Host serves {self._directory.path}; start one: parlour serve {self._option}")

    @property
    def _option(self) -> str:
        return f"--data {shlex.quote(str(self._directory.path))}"

    def watch(self) -> None:
        watched = FileWatcher(self._path)
        while True:
            self._report_host_state()
            if watched.has_changed():
                self._install()
            self._show_logs()
            time.sleep(POLL_SECONDS)

    def end(self, remove: bool) -> None:
        self._show_logs()
        installed = PluginStore(self._directory.plugins).records()
        for plugin_id in (each for each in self._logs if each in installed):
            if remove:
                plugins.remove(self._settings, plugin_id, delete_data=False)
            else:
                print_line(
                    f"{plugin_id} stays installed; to remove it: parlour plugin remove {plugin_id} {self._option}"
                )

    def _report_host_state(self) -> None:
        served = self._directory.serving_pid() is not None
        if served != self._served:
            print_line(
                "the Host is back" if served else "the Host has ended; what you change is there when it starts again"
            )
        self._served = served

    def _install(self) -> None:
        """Validates and installs the plugin. If that fails, prints why; the previous version keeps running."""
        started_at = time.monotonic()
        try:
            valid = validate_plugin(self._settings, self._path, self._pythons)
            log_tail = self._follow_log(PluginId(valid.plugin.manifest.identity))
            plugins.install(
                self._settings, str(self._path), self._grant, None, print_line if log_tail else _print_nothing
            )
        except CommandError as error:
            print_line(f"not taken: {error}")
        else:
            print_line(f"{valid.title} is taken ({time.monotonic() - started_at:.1f} s); change its files to go on")

    def _follow_log(self, plugin_id: PluginId) -> bool:
        """Opens the plugin's log before it starts, so that its first lines are seen. Returns whether it is a new id."""
        if plugin_id in self._logs:
            return False
        self._logs[plugin_id] = LogTail(self._directory.logs / "plugins" / f"{plugin_id}.log")
        return True

    def _show_logs(self) -> None:
        for tail in self._logs.values():
            for line in tail.read_lines():
                print_line(f"  | {line}")


def print_line(line: str) -> None:
    """Prints a line without buffering, also into a pipe."""
    print(line, flush=True)


def _print_nothing(line: str) -> None:
    """Prints nothing: the permissions were printed at the first installation."""
