"""Provides the beginning of single-file plugins for tests."""

from pathlib import Path


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


HEAD = "from parlour_sdk import plugin, runner, tool, on, command, results\n"


IDENTITY = 'plugin("acme/hello", version="1")\n'
