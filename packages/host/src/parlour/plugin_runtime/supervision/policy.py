"""Limits and times for supervising plugins. Each is a setting, explained where it is used."""

from dataclasses import field

from parlour_sdk.values import dataclass
from parlour_sdk.wire import WireLimits


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    first_delay_seconds: float = 1.0
    max_delay_seconds: float = 60.0
    give_up_after: int = 5
    within_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class HealthPolicy:
    ping_seconds: float = 10.0
    missed_pings: int = 3
    ignored_cancel_seconds: float = 30.0
    """Seconds after its cancellation at which a run that continues counts as ignoring it."""


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Resources that one plugin may use, whatever its manifest asks for."""

    memory_mb: int = 2048
    data_mb: int = 1024
    data_files: int = 100_000
    open_files: int = 1024
    processes: int = 200
    niceness: int = 5
    process_check_seconds: float = 2.0
    """Seconds between checks of its processes and their memory."""
    data_check_seconds: float = 10.0
    """Seconds between checks of its data folder."""


@dataclass(frozen=True, slots=True)
class SupervisionPolicy:
    start_seconds: float = 30.0
    stop_seconds: float = 5.0
    drain_seconds: float = 30.0
    """Seconds that a replaced process has to finish its runs."""
    concurrent_starts: int = 8
    restart: RestartPolicy = RestartPolicy()
    health: HealthPolicy = HealthPolicy()
    resource_limits: ResourceLimits = ResourceLimits()
    wire: WireLimits = field(default_factory=WireLimits)
