"""Runs the command line in a process of its own, or in this process to save its start."""

import io
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from parlour.cli.main import main

from .starting import run

PARLOUR = Path(sys.executable).with_name("parlour")
BARE = {"PARLOUR__PLUGINS__BUNDLED": "false", "TZ": "UTC"}
"""Settings of a Host that has only the plugins that a test installs."""
Finished = subprocess.CompletedProcess[str]


def parlour(*arguments: object, environment: Mapping[str, str] | None = None) -> Finished:
    """Runs the command line to its end in a process of its own."""
    return run([str(PARLOUR), *map(str, arguments)], clean_environment(environment), 60)


def parlour_here(*arguments: object, environment: Mapping[str, str] | None = None) -> Finished:
    """Runs the command line in this process, which saves the start of another one. `serve` does not work this way."""
    words = ["parlour", *map(str, arguments)]
    output, errors = io.StringIO(), io.StringIO()
    with (
        redirect_stdout(output),
        redirect_stderr(errors),
        patch.object(sys, "argv", words),
        patch.dict(os.environ, environment or {}),
        ThreadPoolExecutor(1) as thread,  # the command has its own event loop, and the test may have one too
    ):
        status = thread.submit(_exit_status).result(30)
    return Finished(words, status, output.getvalue(), errors.getvalue())


def _exit_status() -> int:
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def refusal(*arguments: object, environment: Mapping[str, str] | None = None) -> str:
    """Returns the one sentence of a command that must fail without a traceback."""
    command = parlour if arguments[0] in ("serve", "runtime") else parlour_here
    finished = command(*arguments, environment=environment)
    assert finished.returncode == 1, finished
    assert finished.stdout == ""
    lines = [line for line in finished.stderr.splitlines() if " INFO " not in line]
    assert len(lines) == 1, finished.stderr
    assert lines[0].startswith("parlour: ")
    return lines[0]


def clean_environment(additions: Mapping[str, str] | None) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PARLOUR__")}
    return {**own, **BARE, **(additions or {})}
