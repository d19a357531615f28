"""Changes the owner of workspaces: backends run commands as different users of the machine."""

import contextlib
import os
from pathlib import Path


def give(folder: Path, user: int, group: int) -> None:
    """Makes a user the owner of a workspace that had another one, such as after a change of the backend."""
    if os.geteuid() != 0 or os.stat(folder).st_uid == user:
        return
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                os.chown(os.path.join(parent, name), user, group, follow_symlinks=False)
        for name in _links_to_folders(parent):
            with contextlib.suppress(OSError):
                os.chown(name, user, group, follow_symlinks=False)
        if parent != str(folder):
            os.chown(parent, user, group)
    os.chown(folder, user, group)  # last, so that it is repeated if it was interrupted


def _links_to_folders(parent: str) -> list[str]:
    with os.scandir(parent) as entries:
        return [entry.path for entry in entries if entry.is_symlink()]
