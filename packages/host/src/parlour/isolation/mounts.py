"""The files that a sandbox shows: values for single mounts, the mounts that most programs need, and their order."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path

from parlour_sdk.values import dataclass

MEBIBYTE = 1024 * 1024
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
INTERPRETER = ("pyvenv.cfg", "bin", "lib", "lib64", "share", "ssl")
"""Parts of a prefix that are shown. Whatever else is there (files of a home or of a data directory) stays hidden."""
SETTINGS = (
    "/etc/alternatives",
    "/etc/ca-certificates/extracted",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",  # not the folder above it, which has private keys
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
)
NETWORK_SETTINGS = ("/etc/gai.conf", "/etc/host.conf", "/etc/hosts", "/etc/resolv.conf")


@dataclass(frozen=True, slots=True)
class Mount:
    """One path of a sandbox's file system, with the bubblewrap options that make it."""

    target: Path
    options: tuple[str, ...]
    is_same_path: bool = False
    """True if it shows the same path of the host, read-only."""
    hides: bool = False
    """True if it shows nothing of that path of the host."""
    is_sealed: bool = False
    """True if nothing can be written to it when all that lies in it is mounted."""


def read_only(source: Path, target: Path) -> Mount:
    return Mount(target, ("--ro-bind", str(source), str(target)))


def writable(path: Path) -> Mount:
    return Mount(path, ("--bind", str(path), str(path)))


def same_path(path: Path) -> Mount:
    return Mount(path, ("--ro-bind", str(path), str(path)), is_same_path=True)


def with_real_path(path: Path) -> Iterator[Mount]:
    """Yields mounts for the path as it is used and for its real path, since links lead from one to the other."""
    yield from (same_path(Path(each)) for each in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))))


def bind_or_link(path: Path) -> Mount:
    """Returns a mount of the path; a link stays a link."""
    return (
        Mount(path, ("--symlink", os.readlink(path), str(path)), is_same_path=True)
        if path.is_symlink()
        else same_path(path)
    )


def hide(folders: Iterable[Path]) -> Iterator[Mount]:
    """Yields mounts that show empty folders in place of these."""
    for folder in folders:
        for path in dict.fromkeys((os.path.abspath(folder), os.path.realpath(folder))):
            yield Mount(Path(path), ("--tmpfs", path), hides=True)


def is_hidden(path: Path, hidden: Iterable[Path]) -> bool:
    real = Path(os.path.realpath(path))
    return any(candidate.is_relative_to(os.path.realpath(folder)) for folder in hidden for candidate in (real, path))


@cache
def system_mounts() -> tuple[Mount, ...]:
    """Returns the programs, libraries and public settings of the machine, and the Python that the Host runs on."""
    bases = (Path(sys.base_prefix), Path(sys.base_exec_prefix), prefix(Path(os.path.realpath(sys.executable))))
    return (
        *(bind_or_link(Path(path)) for path in SYSTEM if os.path.exists(path)),
        *(same_path(Path(path)) for path in SETTINGS if os.path.exists(path)),
        *(each for base in bases for part in _parts(base) for each in with_real_path(part)),
    )


def network_mounts() -> Iterator[Mount]:
    """Yields the settings that a process with a network needs to find other machines."""
    yield from (same_path(Path(path)) for path in NETWORK_SETTINGS if os.path.exists(path))


def interpreter_mounts(python: Path) -> Iterator[Mount]:
    """Yields the environment of an interpreter. Its links are kept, not followed: they may lead anywhere."""
    yield from map(bind_or_link, _parts(prefix(python)))
    while python.is_symlink():  # the links to the real interpreter may pass through other folders
        yield bind_or_link(python)
        python = Path(os.path.normpath(python.parent / os.readlink(python)))


def prefix(python: Path) -> Path:
    """Returns the environment that an interpreter belongs to."""
    return Path(os.path.abspath(python)).parent.parent


def arrange(requested: Sequence[Mount], temporary_mb: int, shared_memory_mb: int) -> list[str]:
    """Returns bubblewrap options for a whole file system, in an order in which none covers another by mistake.

    The sizes are those of `/tmp` and `/dev/shm`, which are in memory.
    """
    temporary = Mount(Path("/tmp"), ("--size", str(temporary_mb * MEBIBYTE), "--perms", "1777", "--tmpfs", "/tmp"))
    mounts = _drop_redundant([*requested, temporary])
    options = [option for mount in mounts for option in mount.options]
    covers = [
        option for mount in mounts if mount.hides or mount.is_sealed for option in ("--remount-ro", str(mount.target))
    ]
    # As root, a process without any capability could still write to /proc/sys.
    fixed = ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]
    fixed += ["--size", str(shared_memory_mb * MEBIBYTE), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    return [*options, *fixed, *covers, "--remount-ro", "/"]


def _parts(prefix: Path) -> list[Path]:
    return [prefix / part for part in INTERPRETER if (prefix / part).exists()]


def _drop_redundant(mounts: Sequence[Mount]) -> list[Mount]:
    """Returns the mounts with parents first; the last one for a path counts.

    Mounts that show or hide nothing new are left out.
    """
    remaining: dict[tuple[str, ...], Mount] = {}
    for parts, mount in sorted({mount.target.parts: mount for mount in mounts}.items(), key=itemgetter(0)):
        parent_mount = next(
            (remaining[parts[:length]] for length in range(len(parts), 0, -1) if parts[:length] in remaining), None
        )
        is_covered = parent_mount is not None and parent_mount.is_same_path
        if not (is_covered and mount.is_same_path) and not (mount.hides and not is_covered):
            remaining[parts] = mount
    return list(remaining.values())
