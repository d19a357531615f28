"""Response schemas of the Box."""

from typing import Any, Literal

from typing_extensions import TypedDict

from ..responses import Id, TimestampMs


class BoxBackendResponse(TypedDict):
    backend: Literal["bubblewrap", "podman", "docker", "nsjail", "e2b"]
    problem: Literal["not_installed", "stopped", "denied", "no_image", "failed"]
    """Its program is missing, its engine does not run, its socket is not for this user, its image is missing, or a
    sandbox did not start."""
    reason: str
    remedy: str
    command: str | None
    """The command that helps on this machine, if it is known."""


class BoxStatusResponse(TypedDict):
    status: Literal["disabled", "connecting", "unavailable", "ready"]
    reason: str | None
    remedy: str | None
    """What makes it available."""
    command: str | None
    """The command that does it on this machine, if it is known."""
    backend: str | None
    version: str | None
    limits: str | None
    """What limits memory, processes and CPU: cgroup2, cgroup1 or rlimit."""
    quota: str | None
    """What limits the size of a workspace: loop (the kernel, by an image file), project (the kernel, by a project
    quota), remote (the service) or advisory (it is watched)."""
    notice: str | None
    """What does not hold on this machine."""
    refused: list[BoxBackendResponse]
    """The backends that were tried and do not work here, in their order."""
    sessions: int
    max_sessions: int
    force_template: str | None
    """The session template that all agents use, if one is set."""


class BoxProcessResponse(TypedDict):
    process_id: str
    command: list[str]
    environment: list[str]
    """Names of its variables."""
    status: Literal["running", "exited"]
    attached: bool
    started_at: TimestampMs
    exited_at: TimestampMs | None
    exit_code: int | None
    reason: str
    """Why the Box stopped it."""
    stderr_preview: str
    """The end of what it wrote to its error output."""


class BoxSessionResponse(TypedDict):
    session_id: Id
    title: str
    """The session template of the agent, filled in."""
    state: Literal["starting", "ready", "stopping"]
    busy: bool
    execs: int
    cpus: float
    memory_mb: int
    processes: int
    network: bool
    read_only: bool
    quota: Literal["loop", "tmpfs", "project", "advisory"]
    """What limits its workspace: an image file, memory, or a watcher."""
    created_at: TimestampMs
    last_used_at: TimestampMs
    expires_at: TimestampMs | None
    """None for a sandbox that is kept."""
    process_list: list[BoxProcessResponse]


class BoxFileResponse(TypedDict):
    name: str
    kind: Literal["file", "folder", "link"]
    size: int
    changed_at: TimestampMs


class BoxFilesResponse(TypedDict):
    items: list[BoxFileResponse]
    more: int
    """Entries that are left out."""


class BoxErrorResponse(TypedDict):
    at: TimestampMs
    action: str
    session_id: Id | None
    code: str
    message: str


class BoxAuditResponse(TypedDict):
    seq: int
    actor: str
    action: str
    session_id: Id
    agent_id: str | None
    run_id: Id | None
    outcome: str
    code: str | None
    detail: Any
    """The command or the path, when it started and finished, and the result."""
    created_at: TimestampMs


class BoxProbeResponse(TypedDict):
    name: str
    ok: bool
    detail: str
    milliseconds: int


class BoxTestResponse(TypedDict):
    ok: bool
    checks: list[BoxProbeResponse]


class TriedCommandResponse(TypedDict):
    text: str
    """What the model would read."""
    status: str
    is_error: bool
    is_offered: bool
    """False if the policy does not give the agent commands."""
    asks: bool
    """True if the agent's call would wait for an approval first."""
    milliseconds: int
