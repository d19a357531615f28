"""Decides which files of the machine sessions may show, and opens them so that they can't be replaced."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from parlour.isolation.mounts import Mount

from .errors import BoxError

REFUSED: Final = tuple(
    map(Path, ("/etc", "/proc", "/sys", "/dev", "/boot", "/run", "/var/run", "/var/lib/docker", "/var/lib/containers"))
)
REFUSED_THEMSELVES: Final = tuple(map(Path, ("/", "/home", "/root", "/usr", "/var", "/tmp", "/opt", "/mnt", "/srv")))
"""Folders that are too much as a whole; what lies below them may be shown."""


class MountPolicy:
    """Checks mounts against the folders that the operator allows."""

    def __init__(self, roots: Sequence[Path], hidden: Sequence[Path]) -> None:
        self._roots = [Path(os.path.realpath(root)) for root in roots]
        self._hidden = [Path(os.path.realpath(folder)) for folder in hidden]

    @contextmanager
    def open(self, paths: Sequence[str]) -> Iterator[tuple[list[Mount], tuple[int, ...]]]:
        """Yields the mounts, and the descriptors that bubblewrap inherits for them. Raises BoxError."""
        mounts, descriptors = [], []
        with ExitStack() as stack:
            for path in paths:
                descriptor = self._open(path)
                stack.callback(os.close, descriptor)
                descriptors.append(descriptor)
                mounts.append(Mount(Path(path), ("--ro-bind", f"/proc/self/fd/{descriptor}", path)))
            yield mounts, tuple(descriptors)

    def _open(self, path: str) -> int:
        """Opens a path without following links, and checks what was opened rather than its name."""
        if not os.path.isabs(path) or os.path.normpath(path) != path or "\0" in path:
            raise BoxError("mount_refused", f"{path[:200]}: write an absolute path without . and ..")
        try:
            descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise BoxError("mount_refused", f"{path[:200]} can't be shown: {error.strerror}") from error
        try:
            real = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
            mode = os.fstat(descriptor).st_mode
            problem = self._problem(Path(path), real, mode)
        except BaseException:
            os.close(descriptor)
            raise
        if problem:
            os.close(descriptor)
            raise BoxError("mount_refused", f"{path[:200]} can't be shown: {problem}")
        os.set_inheritable(descriptor, True)
        return descriptor

    def _problem(self, path: Path, real: Path, mode: int) -> str:
        if real != path:
            return f"it leads to {real}; name that"
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return "it is neither a file nor a folder"
        if not any(real.is_relative_to(root) for root in self._roots):
            return "it is not below a folder of the setting box.local.allowed_mount_roots"
        if real in REFUSED_THEMSELVES or any(real.is_relative_to(each) for each in REFUSED):
            return "a sandbox never sees it"
        if any(real.is_relative_to(folder) or folder.is_relative_to(real) for folder in self._hidden):
            return "the data of Parlour is there"
        return ""
