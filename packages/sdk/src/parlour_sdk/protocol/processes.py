"""Programs that the Host starts for a plugin outside the plugin's sandbox, with pipes to them."""

from typing import Literal

from .base import I18nText, Request, Strict, Tolerant
from .calls import Call

WORKSPACE = "workspace"
"""Place that stands for the working directory of the process."""
ANY_COMMAND = "*"
"""Command that stands for every program in the folders that the operator lists for programs."""


class ProcessPermission(Strict):
    """A program that a plugin may have started. An operator grants it by its name."""

    name: str
    """Small letters, digits and hyphens."""
    commands: list[str]
    """Names of programs, without a path; `*` for every program that the operator made available."""
    read: list[str] = []
    """Absolute paths that it may read, besides the system and the program itself."""
    write: list[str] = []
    """`workspace`, or absolute paths."""
    home: Literal["own", "none"] = "own"
    """`own`: a home folder that is kept, for each agent; `none`: an empty one that ends with the process."""
    network: bool = False
    label: str = ""
    """Name that operators know it by."""
    install: str = ""
    """Command that installs it, for operators to copy. The Host never executes it."""
    note: I18nText | None = None
    """Text that an operator has to know before granting it."""


class ProcessFile(Request):
    """A file that the Host writes before the process starts."""

    place: Literal["home", "workspace"]
    path: str
    """Relative path."""
    text: str


class ProcessStart(Call):
    """Starts a program and streams what it writes. The process ends with the stream, however the stream ends."""

    process: str
    """Name of the permission."""
    command: str
    arguments: list[str] = []
    environment: dict[str, str] = {}
    """In the values, `{home}` and `{workspace}` stand for the paths of these folders."""
    workspace: str = ""
    """Name of a folder that the Host makes for it, or an absolute path that the operator allows."""
    home: str = ""
    """Name of its home folder."""
    files: list[ProcessFile] = []


class ProcessOutput(Tolerant):
    """One part of the stream: first `started`, then output, last `exited`."""

    kind: Literal["started", "stdout", "stderr", "exited"]
    process_id: str = ""
    """In `started`: the id for `process_write`."""
    working_directory: str = ""
    """In `started`: the path as the process sees it."""
    content_base64: str = ""
    status: int | None = None
    """In `exited`: the exit status, negative for a signal."""
    reason: str = ""
    """In `exited`: why the Host ended it; empty if it ended by itself."""


class ProcessWrite(Call):
    """Writes to the standard input of a process, or to a file in its working directory."""

    process_id: str
    content_base64: str
    file: str = ""
    """Relative path of a file to append to; empty for the standard input."""
    close: bool = False
    """True to close the standard input afterwards."""
