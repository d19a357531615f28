"""Remote runtimes: workers that claim queued runs."""

from typing import Any, Literal

from .base import Count, Positive, Strict, Tolerant
from .calls import Call


class ProviderLogin(Tolerant):
    """Whether a harness on that machine can be used."""

    provider: str
    logged_in: bool
    detail: str | None = None


class RuntimeRegister(Call):
    """A worker says what it can do."""

    runtime_id: str
    labels: list[str] = []
    runners: list[str] = []
    slots: Positive = 1
    """Runs at the same time."""
    versions: dict[str, str] = {}
    providers: list[ProviderLogin] = []
    workspaces: list[str] = []
    """Folders or repositories that it can reach."""


class RuntimeHeartbeat(Call):
    """A worker says that it is still there."""

    runtime_id: str
    free_slots: Count | None = None


class RuntimeList(Call):
    """Asks for the runtimes of the workspace."""


class RuntimeDeregister(Call):
    """A worker goes."""

    runtime_id: str


class RuntimeWakeups(Call):
    """A worker wants to be told of runs that it could claim, for as long as it listens."""

    runtime_id: str


class Wakeup(Tolerant):
    """There are runs to claim: so many, at this moment."""

    queued: int


class Runtime(Tolerant):
    """A worker as the Host knows it."""

    runtime_id: str
    status: Literal["active", "gone"]
    labels: list[str] = []
    runners: list[str] = []
    slots: int = 1
    versions: dict[str, str] = {}
    providers: list[ProviderLogin] = []
    workspaces: list[str] = []
    registered_at: int
    last_seen_at: int
    expires_at: int
    """When it counts as gone unless it is heard of again."""
    metadata: dict[str, Any] = {}


class RuntimePage(Strict):
    """The workers of the workspace."""

    items: list[Runtime] = []
