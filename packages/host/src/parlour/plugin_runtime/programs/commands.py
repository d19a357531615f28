"""Finds granted programs on this machine, with the files that they need to run."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from parlour.core.errors import CallRejected
from parlour.isolation.mounts import SYSTEM, Mount, interpreter_mounts, with_real_path
from parlour_sdk.protocol.processes import ANY_COMMAND, ProcessPermission
from parlour_sdk.values import dataclass

NODE_PACKAGES = "node_modules"
MAX_LINKS = 16


@dataclass(frozen=True, slots=True)
class Program:
    """An installed program."""

    path: Path
    mounts: tuple[Mount, ...]
    """Files that it needs, if they are not part of the system."""


class ProgramFinder:
    """Searches the folders that the operator lists, and then PATH."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(each.expanduser().absolute() for each in folders)

    def locate(self, command: str) -> Path | None:
        """Returns the path of a program, or None if it is not installed."""
        return _which(command, self.search_path)

    @property
    def search_path(self) -> str:
        return os.pathsep.join([*map(str, self._folders), os.environ.get("PATH", os.defpath)])

    def resolve(self, permission: ProcessPermission, command: str) -> Program:
        """Returns the program with all files of the programs of its permission. Raises CallRejected."""
        path = self._named(permission, command)
        needed = [path, *(found for name in permission.commands if (found := self.locate(name)))]
        return Program(path, tuple(mount for each in dict.fromkeys(needed) for mount in _mounts(each)))

    def inside_path(self, program: Program) -> str:
        """Returns PATH for the program: its own folder, the operator's folders, and those of the system."""
        return os.pathsep.join(
            dict.fromkeys([str(program.path.parent), *map(str, self._folders), "/usr/local/bin", "/usr/bin", "/bin"])
        )

    def _named(self, permission: ProcessPermission, command: str) -> Path:
        if "/" in command or (command not in permission.commands and ANY_COMMAND not in permission.commands):
            commands = ", ".join(permission.commands)
            raise CallRejected("unauthorized", f"command: '{command[:80]}' was not granted; granted are: {commands}")
        listed_only = command not in permission.commands
        places = os.pathsep.join(map(str, self._folders)) if listed_only else self.search_path
        path = _which(command, places) if places else None
        if path is None:
            where = "a folder of the setting programs.folders" if listed_only else "this machine"
            raise CallRejected("not_found", f"command: '{command[:80]}' is not installed in {where}")
        return path


def _which(command: str, search_path: str) -> Path | None:
    found = shutil.which(command, path=search_path) if command and command != ANY_COMMAND else None
    return Path(found).absolute() if found else None


def _mounts(path: Path) -> Iterator[Mount]:
    """Yields the install folders of a program: those of each link on the way to the file, and of the file."""
    links = 0
    while True:
        yield from _install_mounts(path)
        if not path.is_symlink() or links == MAX_LINKS:
            return
        path, links = Path(os.path.normpath(path.parent / os.readlink(path))), links + 1


def _install_mounts(path: Path) -> Iterator[Mount]:
    """Yields what belongs to one file: its tree of Node packages, its Python environment, or only the file itself."""
    if any(path.is_relative_to(folder) for folder in SYSTEM):
        return
    parts = path.parts
    if NODE_PACKAGES in parts:
        yield from with_real_path(Path(*parts[: parts.index(NODE_PACKAGES) + 1]))
    elif (path.parent.parent / "pyvenv.cfg").is_file():
        yield from interpreter_mounts(path)
    else:
        yield from with_real_path(path)
