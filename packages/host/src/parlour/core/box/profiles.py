"""Profiles of sessions: their limits, and which of them an agent may not change."""

from typing import Final

from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class BoxProfile:
    """The limits of a session."""

    cpus: float
    memory_mb: int
    processes: int
    network: bool
    read_only: bool
    """True if the workspace can only be read."""
    timeout_seconds: float
    """Time limit of a command that names none."""
    max_timeout_seconds: float
    locked: frozenset[str]
    """Fields that an agent's box policy can't change."""


PROFILES: Final = {
    "default": BoxProfile(1, 512, 128, False, False, 30, 120, frozenset({"network", "host_path"})),
    "offline_readonly": BoxProfile(0.5, 256, 64, False, True, 30, 60, frozenset({"network", "read_only"})),
    "network_basic": BoxProfile(1, 512, 128, True, False, 30, 120, frozenset({"host_path"})),
    "network_extended": BoxProfile(2, 1024, 256, True, False, 30, 300, frozenset({"host_path"})),
}
DEFAULT_PROFILE: Final = "default"
