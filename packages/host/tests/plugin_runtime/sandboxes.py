"""Runs code in real sandboxes and returns what it reports from inside."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parlour.isolation import subprocesses
from parlour.isolation.process import spawn
from parlour.plugin_runtime.process.launcher import LaunchSpec
from parlour.plugin_runtime.process.sandbox import choose_launcher
from parlour.plugin_runtime.process.sandboxed_launcher import BubblewrapLauncher, SandboxedPluginProcess

PRELUDE = """
import ctypes, json, os, pwd, signal, socket, subprocess, sys, tempfile, time

def attempt(work, *arguments):
    try:
        return work(*arguments)
    except OSError as error:
        return type(error).__name__

def report(fact):
    print(json.dumps(fact), flush=True)
"""


def make_start(folder: Path, **fields: Any) -> LaunchSpec:
    """Makes the launch of a plugin with code and data in this folder, in paths with spaces."""
    code, data = folder / "its code", folder / "its data"
    code.mkdir(exist_ok=True)
    data.mkdir(exist_ok=True)
    return LaunchSpec("test/boxed", code, data, **fields)


async def launcher(hidden: Sequence[Path] = ()) -> BubblewrapLauncher:
    made, state = await choose_launcher("required", None, hidden)
    assert isinstance(made, BubblewrapLauncher), state
    return made


async def run_sandboxed(start: LaunchSpec, code: str, *arguments: object, hidden: Sequence[Path] = ()) -> Any:
    """Runs code with the plugin's interpreter in its sandbox and returns its report; the code gets the arguments."""
    inside = [str(start.python), "-c", PRELUDE + code, *map(str, arguments)]
    with (await launcher(hidden)).wrap_plugin(start, inside) as command:
        finished = await subprocesses.run(command.arguments, os.environ, descriptors=command.descriptors)
    assert finished.status == 0, finished.lines
    return json.loads(finished.lines[-1])


async def start_sandboxed(start: LaunchSpec, code: str) -> SandboxedPluginProcess:
    """Starts the code like a plugin; standard error is its log."""
    inside = [sys.executable, "-c", PRELUDE + code]
    with (await launcher()).wrap_plugin(start, inside) as command:
        return await spawn(command.arguments, start.folder, SandboxedPluginProcess, {}, command.descriptors)
