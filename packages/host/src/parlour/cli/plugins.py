"""`parlour plugin`: installs into the data directory; a running Host is told and picks it up at once."""

import os
import shutil
import signal
from pathlib import Path

from parlour.config import Settings
from parlour.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.runtime.folder import PluginFolder
from parlour_sdk.plugin import PluginInvalid

from .main import CommandFailed


def install(settings: Settings, source: Path) -> None:
    try:
        directory = DataDirectory(settings.data)
        plugin = PluginFolder(directory.plugins).install(source)
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
        os.kill(pid, signal.SIGHUP)
        print("the running Host picks it up now")


def show(settings: Settings) -> None:
    for plugin in PluginFolder(DataDirectory(settings.data).plugins).installed().values():
        print(f"{plugin.plugin_id} {plugin.version}")
