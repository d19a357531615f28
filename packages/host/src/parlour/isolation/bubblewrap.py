"""Makes sandboxes with bubblewrap: own files, processes, network, host name and users, and a system call filter."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from . import seccomp
from .mounts import arrange
from .sandbox_spec import SandboxedCommand, SandboxSpec

SANDBOX_USER_ID = "1000"
ISOLATION_OPTIONS = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--uid", SANDBOX_USER_ID, "--gid", SANDBOX_USER_ID),
    *("--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)


class Bubblewrap:
    """The program `bwrap`, as it works on this machine."""

    def __init__(self, program: Path, hidden: Sequence[Path] = (), filtered: bool = True) -> None:
        self._program = program
        self.hidden = hidden
        """Folders that sandboxes must not show, even if they are in one that can be read."""
        self._filtered = filtered
        """True if system calls are filtered."""

    @contextlib.contextmanager
    def wrap(self, spec: SandboxSpec) -> Iterator[SandboxedCommand]:
        """Yields the command that runs the spec's command in its sandbox. Start it once, within the block."""
        with contextlib.ExitStack() as stack:
            descriptors = (stack.enter_context(seccomp.open_filter()),) if self._filtered else ()
            filters = [option for descriptor in descriptors for option in ("--seccomp", str(descriptor))]
            secrets = (
                (stack.enter_context(_secret_options(spec.secret_environment)),) if spec.secret_environment else ()
            )
            # After the other options, one of which clears all variables.
            options = [*_options(spec), *(option for each in secrets for option in ("--args", str(each)))]
            arguments = [str(self._program), *ISOLATION_OPTIONS, *filters, *options, "--", *spec.command]
            yield SandboxedCommand(arguments, (*descriptors, *secrets))


@contextlib.contextmanager
def _secret_options(variables: Mapping[str, str]) -> Iterator[int]:
    """Yields a descriptor from which bubblewrap reads variables: other users of the machine can read a command line."""
    descriptor = os.memfd_create("variables")
    try:
        os.write(descriptor, b"".join(os.fsencode(option) + b"\0" for option in _set_variables(variables)))
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _set_variables(variables: Mapping[str, str]) -> list[str]:
    return [option for name, value in variables.items() for option in ("--setenv", name, value)]


def _options(spec: SandboxSpec) -> list[str]:
    return [
        *("--hostname", spec.host_name),
        *(() if spec.inherits_environment else ("--clearenv",)),
        *(("--share-net",) if spec.network else ()),
        *_set_variables(spec.environment),
        *arrange(spec.mounts, spec.limits.temporary_mb, spec.limits.shared_memory_mb),
        *("--chdir", str(spec.working_directory)),
    ]
