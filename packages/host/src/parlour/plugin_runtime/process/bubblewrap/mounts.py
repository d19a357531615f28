"""Lists the files that a process in the sandbox sees: those an interpreter needs, its own two folders, and no more."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path

import parlour_sdk
from parlour_sdk.values import dataclass

from ..launcher import LaunchSpec

MEBIBYTE = 1024 * 1024
TEMPORARY_MB = 256
SHARED_MEMORY_MB = 64
"""Both file systems are in memory, so they are limited."""
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
OWN_SETTINGS = Path(__file__).with_name("etc")
"""Files for /etc: a single account, and name lookup only by files and DNS."""


@dataclass(frozen=True, slots=True)
class Mount:
    target: Path
    options: tuple[str, ...]
    is_same_path: bool = False
    """True if it shows the same path of the host, read-only."""
    hides: bool = False
    """True if it shows nothing of that path of the host."""


def plugin_mounts(start: LaunchSpec, hidden: Iterable[Path]) -> list[str]:
    """Returns the mounts of a plugin as bubblewrap options, in an order in which none covers another by mistake."""
    return _arrange([*_base_mounts(), *_hide(hidden), *_own_mounts(start)])


def installer_mounts(
    program: Path, shown: Iterable[Path], writable: Iterable[Path], bound: Mapping[Path, Path], hidden: Sequence[Path]
) -> list[str]:
    """Returns the mounts for the installer of packages: no plugin's files, and nothing below the hidden folders.

    `shown` paths can be read at their own places, unless they are hidden. The installer's own paths may be below a
    hidden folder: `program`, the `writable` folders, and the `bound` files, which are shown at the path that is their
    key.
    """
    size = TEMPORARY_MB * MEBIBYTE
    temporary = Mount(Path("/tmp"), ("--size", str(size), "--perms", "1777", "--tmpfs", "/tmp"))
    open_paths = [path for path in shown if not is_hidden(path, hidden)]
    return _arrange(
        [
            *_base_mounts(),
            temporary,
            *(each for path in open_paths for each in _bind_with_real_path(path)),
            *_hide(hidden),
            *_bind_with_real_path(program),
            *(_read_only(source, target) for target, source in bound.items()),
            *(Mount(path, ("--bind", str(path), str(path))) for path in writable),
        ]
    )


def is_hidden(path: Path, hidden: Iterable[Path]) -> bool:
    real = Path(os.path.realpath(path))
    return any(place.is_relative_to(os.path.realpath(folder)) for folder in hidden for place in (real, path))


def _arrange(wanted: Sequence[Mount]) -> list[str]:
    mounts = _drop_redundant(wanted)
    shown = [option for mount in mounts for option in mount.options]
    covers = [option for mount in mounts if mount.hides for option in ("--remount-ro", str(mount.target))]
    # As root, a process without any capability could still write to /proc/sys.
    fixed = ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]
    fixed += ["--size", str(SHARED_MEMORY_MB * MEBIBYTE), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    return [*shown, *fixed, *covers, "--remount-ro", "/"]


def prefix(python: Path) -> Path:
    """Returns the environment that an interpreter belongs to."""
    return Path(os.path.abspath(python)).parent.parent


@cache
def _base_mounts() -> tuple[Mount, ...]:
    """Returns the mounts that all plugins share. They don't change while the Host runs."""
    bases = (Path(sys.base_prefix), Path(sys.base_exec_prefix), prefix(Path(os.path.realpath(sys.executable))))
    library = Path(parlour_sdk.__file__).parent
    return (
        *(_bind_or_link(Path(path)) for path in SYSTEM if os.path.exists(path)),
        *(_bind_same_path(Path(path)) for path in SETTINGS if os.path.exists(path)),
        *(_read_only(file, Path("/etc", file.name)) for file in sorted(OWN_SETTINGS.iterdir())),
        *(each for base in bases for part in _parts(base) for each in _bind_with_real_path(part)),
        *_bind_with_real_path(library),
    )


def _own_mounts(start: LaunchSpec) -> Iterator[Mount]:
    size = min(start.limits.memory_mb, TEMPORARY_MB) * MEBIBYTE
    yield Mount(Path("/tmp"), ("--size", str(size), "--perms", "1777", "--tmpfs", "/tmp"))
    if start.network:
        yield from (_bind_same_path(Path(path)) for path in NETWORK_SETTINGS if os.path.exists(path))
    yield from map(
        _bind_or_link, _parts(prefix(start.python))
    )  # its links are kept, not followed: they may lead anywhere
    yield from _links(start.python)
    yield _bind_same_path(start.folder)
    yield Mount(start.data, ("--bind", str(start.data), str(start.data)))


def _parts(prefix: Path) -> list[Path]:
    return [prefix / part for part in INTERPRETER if (prefix / part).exists()]


def _links(path: Path) -> Iterator[Mount]:
    """Yields the links from an environment's interpreter to the real one, which may pass through other folders."""
    while path.is_symlink():
        yield _bind_or_link(path)
        path = Path(os.path.normpath(path.parent / os.readlink(path)))


def _bind_with_real_path(path: Path) -> Iterator[Mount]:
    """Yields mounts for the path as it is used and for its real path, since links lead from one to the other."""
    yield from (_bind_same_path(Path(each)) for each in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))))


def _hide(folders: Iterable[Path]) -> Iterator[Mount]:
    for folder in folders:
        for path in dict.fromkeys((os.path.abspath(folder), os.path.realpath(folder))):
            yield Mount(Path(path), ("--tmpfs", path), hides=True)


def _bind_or_link(path: Path) -> Mount:
    """Returns a mount of the path; a link stays a link."""
    return (
        Mount(path, ("--symlink", os.readlink(path), str(path)), is_same_path=True)
        if path.is_symlink()
        else _bind_same_path(path)
    )


def _bind_same_path(path: Path) -> Mount:
    return Mount(path, ("--ro-bind", str(path), str(path)), is_same_path=True)


def _read_only(source: Path, target: Path) -> Mount:
    return Mount(target, ("--ro-bind", str(source), str(target)))


def _drop_redundant(mounts: Sequence[Mount]) -> list[Mount]:
    """Returns the mounts with parents first; the last one for a path counts.

    Mounts that show or hide nothing new are left out.
    """
    kept: dict[tuple[str, ...], Mount] = {}
    for place, mount in sorted({mount.target.parts: mount for mount in mounts}.items(), key=itemgetter(0)):
        above = next((kept[place[:length]] for length in range(len(place), 0, -1) if place[:length] in kept), None)
        seen = above is not None and above.is_same_path
        if not (seen and mount.is_same_path) and not (mount.hides and not seen):
            kept[place] = mount
    return list(kept.values())
