"""The numbers by which plugins are kept. Every one is a setting; what they mean is told where they are used."""

from dataclasses import field

from parlour_sdk.values import dataclass
from parlour_sdk.wire import Limits


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    first_delay: float = 1.0
    longest_delay: float = 60.0
    give_up_after: int = 5
    within_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class HealthPolicy:
    ping_seconds: float = 10.0
    missed_pings: int = 3
    ignored_cancel_seconds: float = 30.0
    """A run that goes on for so long after its cancellation ignores it."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one plugin may use, whatever its manifest asks for."""

    memory_mb: int = 2048
    data_mb: int = 1024
    data_files: int = 100_000
    open_files: int = 1024
    processes: int = 200
    niceness: int = 5
    memory_seconds: float = 2.0
    """How often its processes and their memory are looked at."""
    data_seconds: float = 10.0
    """How often its data folder is looked at."""


@dataclass(frozen=True, slots=True)
class Policy:
    start_seconds: float = 30.0
    stop_seconds: float = 5.0
    drain_seconds: float = 30.0
    """How long a process that was replaced may finish its runs."""
    starts_at_once: int = 8
    restart: RestartPolicy = RestartPolicy()
    health: HealthPolicy = HealthPolicy()
    allowance: Allowance = Allowance()
    wire: Limits = field(default_factory=Limits)
