"""The port of backends: what starts sandboxes. `testing.box_backend_contract` says what each must do."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal, Protocol

from parlour.core.box.messages import SessionSpec
from parlour_sdk.values import dataclass

Fields = dict[str, Any]
Problem = Literal["not_installed", "stopped", "denied", "no_image", "failed"]
"""Why a backend can't be used: its program is missing, its engine does not run, its socket is not for this user, the
image is missing, or a sandbox did not start."""


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """Describes a backend, and which of its limits hold."""

    name: str
    version: str
    limits: str
    """What limits memory, processes and CPU: cgroup2, cgroup1 or rlimit."""
    quota: str
    """What limits a workspace: remote if that is up to the backend, advisory if it can only show folders of the
    machine, and empty if it shows what the Box shows it."""
    notice: str = ""
    """What does not hold here, in words; empty if all holds."""


class BackendUnavailable(Exception):
    """Raised when a backend does not work here, with the reason and what helps."""

    def __init__(self, reason: str, remedy: str, command: str = "", problem: Problem = "failed") -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy
        self.command = command
        self.problem = problem


@dataclass(frozen=True, slots=True)
class SandboxFolders:
    """The folders of the Box's disk that a sandbox shows."""

    workspace: Path
    skills: Mapping[str, Path] = field(default_factory=dict)
    """Folders of skills by their names, which are shown read-only."""
    memory_mb: int = 0
    """Size of a workspace that is in memory and ends with its sandbox; 0 if it is the folder."""


class Sandbox(Protocol):
    """A running sandbox."""

    @property
    def closed(self) -> asyncio.Event:
        """Set when the sandbox has ended for any reason."""
        ...

    async def request(self, operation: str, fields: Fields) -> Fields:
        """Sends a request to the agent inside. Raises BoxError; `session_lost` if the sandbox has ended."""
        ...

    def death_reason(self) -> str:
        """Returns why the kernel killed something inside: memory or processes; empty if it did not."""
        ...

    async def close(self) -> None:
        """Ends the sandbox with everything in it."""
        ...


class Backend(Protocol):
    """Starts sandboxes."""

    async def probe(self) -> BackendInfo:
        """Tries the backend out, which disturbs no other Box. Raises BackendUnavailable."""
        ...

    async def remove_orphans(self) -> int:
        """Removes the sandboxes that an earlier Box of the same folder has left, and returns their number."""
        ...

    async def start(self, spec: SessionSpec, folders: SandboxFolders, on_event: Callable[[Fields], None]) -> Sandbox:
        """Starts a sandbox that shows the folders. Raises BoxError."""
        ...

    async def close(self) -> None:
        """Removes what the backend holds beyond its sandboxes."""
        ...
