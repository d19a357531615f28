"""The value that describes one sandbox: its command, files, variables, limits and network."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from parlour_sdk.values import dataclass

from .mounts import Mount


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Sizes of a sandbox's file systems in memory. The limits of its processes are applied from outside."""

    temporary_mb: int = 256
    shared_memory_mb: int = 64


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """Everything that decides what a command in a sandbox sees and may use, for one command or a long session."""

    command: Sequence[str]
    mounts: Sequence[Mount]
    """Its whole file system, besides `/proc`, `/dev` and `/tmp`. The last mount for a path counts."""
    working_directory: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=dict)
    """Its variables. They can be read in the list of processes, so none of them is a secret."""
    secret_environment: Mapping[str, str] = field(default_factory=dict)
    """Further variables, which bubblewrap reads from a descriptor, so that the list of processes does not show them."""
    inherits_environment: bool = False
    """True if it also gets the variables that bubblewrap is started with, which the list of processes does not show."""
    network: bool = False
    """True if it uses the network of the machine; otherwise it has a loopback of its own and nothing else."""
    host_name: str = "sandbox"
    limits: SandboxLimits = field(default_factory=SandboxLimits)


@dataclass(frozen=True, slots=True)
class SandboxedCommand:
    """A command that runs in a sandbox, and the descriptors that it inherits."""

    arguments: list[str]
    descriptors: tuple[int, ...] = ()
