"""Lists the files that a plugin and the installer of packages see: what an interpreter needs and their own folders."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import parlour_sdk
from parlour.isolation.mounts import (
    Mount,
    hide,
    interpreter_mounts,
    is_hidden,
    network_mounts,
    read_only,
    same_path,
    system_mounts,
    with_real_path,
    writable,
)

from .launcher import LaunchSpec

OWN_SETTINGS = Path(__file__).with_name("etc")
"""Files for /etc: a single account, and name lookup only by files and DNS."""


def plugin_mounts(start: LaunchSpec, hidden: Iterable[Path]) -> list[Mount]:
    """Returns the files of a plugin: nothing of the hidden folders but its own code and data."""
    return [*_base_mounts(), *hide(hidden), *_own_mounts(start)]


def installer_mounts(
    program: Path,
    visible: Iterable[Path],
    writable_folders: Iterable[Path],
    bindings: Mapping[Path, Path],
    hidden: Sequence[Path],
) -> list[Mount]:
    """Returns the mounts for the installer of packages: no plugin's files, and nothing below the hidden folders.

    `visible` paths can be read at their own places, unless they are hidden. The installer's own paths may be below a
    hidden folder: `program`, the `writable_folders`, and the files of `bindings`, which appear at the path
    that is their key.
    """
    open_paths = [path for path in visible if not is_hidden(path, hidden)]
    return [
        *_base_mounts(),
        *(each for path in open_paths for each in with_real_path(path)),
        *hide(hidden),
        *with_real_path(program),
        *(read_only(source, target) for target, source in bindings.items()),
        *map(writable, writable_folders),
    ]


@cache
def _base_mounts() -> tuple[Mount, ...]:
    """Returns the mounts that all plugins share. They don't change while the Host runs."""
    return (
        *system_mounts(),
        *(read_only(file, Path("/etc", file.name)) for file in sorted(OWN_SETTINGS.iterdir())),
        *with_real_path(Path(parlour_sdk.__file__).parent),
    )


def _own_mounts(start: LaunchSpec) -> Iterator[Mount]:
    if start.network:
        yield from network_mounts()
    yield from interpreter_mounts(start.python)
    yield same_path(start.folder)
    yield writable(start.data)
