"""`parlour plugin`: installs into the data directory; a running Host is told and picks it up at once."""

import os
import shutil
import signal
from pathlib import Path

from parlour.config import Settings
from parlour.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.runtime.folder import Installed, PluginFolder
from parlour.runtime.status import StatusFile
from parlour_sdk.plugin import PluginInvalid

from .main import CommandFailed


def install(settings: Settings, source: Path) -> None:
    try:
        directory = DataDirectory(settings.data)
        folder = PluginFolder(directory.plugins)
        plugin = folder.install(source)
    except (PluginInvalid, DataDirectoryUnusable) as error:
        raise CommandFailed(str(error)) from error
    except shutil.Error as error:  # one entry per file: where it was, where it was to go, why not
        file, _, reason = error.args[0][0]
        raise CommandFailed(f"the plugin could not be copied: {file}: {reason}; nothing was changed") from error
    except OSError as error:
        raise CommandFailed(f"the plugin could not be copied: {error.strerror}; nothing was changed") from error
    print(f"installed {plugin.manifest.identity} {plugin.manifest.metadata.version}")
    pid = directory.serving_pid()
    if pid is not None:
        _hand_over(directory, folder.installed()[plugin.manifest.identity], pid, settings.plugins.start_seconds)


def _hand_over(directory: DataDirectory, plugin: Installed, pid: int, seconds: float) -> None:
    """Tells the running Host, and tells the person how the Host's start of it went."""
    os.kill(pid, signal.SIGHUP)
    status = StatusFile(directory.plugin_status).wait(pid, plugin.plugin_id, plugin.stamp, seconds)
    if status is None:
        raise CommandFailed(f"the running Host did not start it within {seconds:g} s; its log says why")
    if status.status != "ready":
        raise CommandFailed(f"it is installed, and the running Host can't start it: {status.reason}")
    print("the running Host has started it")


def show(settings: Settings) -> None:
    for plugin in PluginFolder(DataDirectory(settings.data).plugins).installed().values():
        print(f"{plugin.plugin_id} {plugin.version}")
