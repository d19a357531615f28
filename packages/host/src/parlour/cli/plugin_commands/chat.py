"""`parlour plugin chat`: replaces this process by the SDK's chat with a fake Host, in the plugin's environment."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from parlour.app.settings import HostSettings

from . import plugin_python
from .validate import read


def run(settings: HostSettings, path: Path, runner: str | None, pairs: Sequence[str], model: str) -> None:
    plugin = read(path)
    python = plugin_python.author_interpreters(settings).for_plugin(plugin)
    options = [f"--model={model}", *(f"--config={pair}" for pair in pairs)]
    options += [f"--runner={runner}"] if runner is not None else []
    sys.stdout.flush()
    os.execv(
        python, [str(python), "-m", "parlour_sdk.authoring.chat", *options, "--", str(plugin.file or plugin.folder)]
    )
