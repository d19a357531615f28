"""The tools of the Box as models see them."""

from typing import Any, Final

from ..tools.source import OfferedTool

PROVIDER: Final = "the Box"
MAX_CALL_SECONDS: Final = 330.0
"""Seconds that a call may take: the longest command of any profile, and a start."""
_PATH: Final = {"type": "string", "description": "Path below /workspace."}


def _tool(name: str, description: str, required: list[str], read_only: bool, **properties: Any) -> OfferedTool:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return OfferedTool(f"box.{name}", "native", PROVIDER, description, schema, read_only, MAX_CALL_SECONDS)


DEFINITIONS: Final = (
    _tool(
        "exec",
        "Runs a shell command in a sandbox. Files in /workspace stay for later commands of this chat; files of the "
        "user's message are in /workspace/inbox; what you put into /workspace/outbox is sent with your answer.",
        ["command"],
        False,
        command={"type": "string", "description": "Command for the shell.", "minLength": 1},
        workdir={"type": "string", "description": "Folder to run it in; /workspace by default."},
        timeout_sec={"type": "number", "description": "Seconds that it may take.", "exclusiveMinimum": 0},
    ),
    _tool(
        "read",
        "Reads a text file or a picture of the sandbox, at most 2,000 lines at once.",
        ["path"],
        True,
        path=_PATH,
        offset={"type": "integer", "minimum": 1, "description": "First line; 1 by default."},
        limit={"type": "integer", "minimum": 1, "maximum": 2000, "description": "Number of lines."},
    ),
    _tool(
        "write",
        "Writes a text file of the sandbox, replacing what is there.",
        ["path", "content"],
        False,
        path=_PATH,
        content={"type": "string"},
    ),
    _tool(
        "edit",
        "Replaces a text in a file of the sandbox. The text must occur exactly once, unless all is true.",
        ["path", "old", "new"],
        False,
        path=_PATH,
        old={"type": "string", "minLength": 1},
        new={"type": "string"},
        all={"type": "boolean"},
    ),
    _tool(
        "glob",
        "Finds files of the sandbox by a pattern such as **/*.py.",
        ["pattern"],
        True,
        pattern={"type": "string", "minLength": 1},
    ),
    _tool(
        "grep",
        "Finds lines in files of the sandbox by a regular expression.",
        ["pattern"],
        True,
        pattern={"type": "string", "minLength": 1},
        path=_PATH,
        glob={"type": "string", "description": "Pattern of file names, such as *.py."},
    ),
)
