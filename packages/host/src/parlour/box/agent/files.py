"""Reads and writes files below the workspace, from inside the sandbox."""

import base64
import os
import stat
from collections.abc import Callable
from typing import Any

ROOT = "/workspace"
READ_BYTES = 256 * 1024
"""Bytes that one request may read."""
MAX_LISTED = 1000
FULL_BYTES = 1024 * 1024
FULL_SHARE = 1 / 8
"""A file system with fewer free bytes and a smaller free part counts as full: a large write may find no room in it."""

Fields = dict[str, Any]


class Refused(Exception):
    """Raised for a request that can't be served, with a code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def resolve(path: str) -> str:
    """Returns the real path below the workspace. Traversal and links that lead out of it are refused."""
    if not isinstance(path, str) or not path or "\0" in path:
        raise Refused("path_refused", "the path must be a text that is not empty")
    whole = os.path.normpath(os.path.join(ROOT, path))
    real = os.path.realpath(whole)
    for each in (whole, real):
        if each != ROOT and not each.startswith(ROOT + "/"):
            raise Refused("path_refused", f"{path[:200]} is outside {ROOT}")
    return real


def open_below(real: str, flags: int) -> tuple[int, int, str]:
    """Opens a real path component by component, so that a link that appears in between is not followed.

    Returns the descriptors of the file and its folder, and its name in there.
    """
    parts = [part for part in real[len(ROOT) :].split("/") if part] or ["."]
    folder = os.open(ROOT, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            if flags & os.O_CREAT and not _exists(part, folder):
                os.mkdir(part, 0o755, dir_fd=folder)
            deeper = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = deeper
        opened = os.open(parts[-1], flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o644, dir_fd=folder)
    except BaseException:
        os.close(folder)
        raise
    return opened, folder, parts[-1]


def read(request: Fields) -> Fields:
    """Returns some bytes of a file, and its size."""
    descriptor, size = _open_regular(request["path"])
    try:
        length = min(READ_BYTES, int(request.get("length", READ_BYTES)))
        content = os.pread(descriptor, length, max(0, int(request.get("offset", 0))))
    finally:
        os.close(descriptor)
    return {"data": base64.b64encode(content).decode(), "size": size}


def write(request: Fields) -> Fields:
    """Writes a file as a whole, or adds to one."""
    content = base64.b64decode(request["data"])
    if not request.get("append"):
        return _replace(request["path"], content)
    descriptor, folder, _ = open_below(resolve(request["path"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.close(folder)
    with open(descriptor, "ab") as file:
        file.write(content)
    return {"size": len(content)}


def edit(request: Fields) -> Fields:
    """Replaces a text that occurs once in a file, or everywhere if `all` is set."""
    old, new = request["old"], request["new"]
    text = _text(request["path"], request["limit"])
    count = text.count(old) if old else 0
    if count == 0:
        raise Refused("invalid_spec", "the text `old` is not in the file; read it again and copy it exactly")
    if count > 1 and not request.get("all"):
        raise Refused("invalid_spec", f"the text `old` is {count} times in the file; give more of it, or set all")
    return {"replaced": count, **_replace(request["path"], text.replace(old, new).encode())}


def remove(request: Fields) -> Fields:
    """Removes a file or an empty folder."""
    whole = os.path.normpath(os.path.join(ROOT, request["path"]))
    real = os.path.join(resolve(os.path.dirname(whole)), os.path.basename(whole))
    (os.rmdir if os.path.isdir(real) and not os.path.islink(real) else os.unlink)(real)
    return {}


def listing(request: Fields) -> Fields:
    """Lists a folder by name: name, kind, size and time of change of up to MAX_LISTED entries, and how many more
    there are.
    """
    entries: list[Fields] = []
    with os.scandir(resolve(request.get("path") or ROOT)) as found:
        for entry in found:
            info = entry.stat(follow_symlinks=False)
            kind = "link" if entry.is_symlink() else "folder" if entry.is_dir() else "file"
            entries.append({"name": entry.name, "kind": kind, "size": info.st_size, "changed_at": info.st_mtime})
    entries.sort(key=lambda entry: str(entry["name"]))
    return {"items": entries[:MAX_LISTED], "more": max(0, len(entries) - MAX_LISTED)}


def identify(request: Fields) -> Fields:
    """Returns the device and the number of files, by which the Box sees that the sandbox shows what it should."""
    return {path: list(_identity(path)) for path in request["paths"]}


def is_full() -> bool:
    """Returns whether the workspace has no room left."""
    found = os.statvfs(ROOT)
    return found.f_bavail * found.f_frsize < min(FULL_BYTES, found.f_blocks * found.f_frsize * FULL_SHARE)


def _identity(path: str) -> tuple[int, int]:
    try:
        info = os.lstat(path)
    except OSError:
        return 0, 0
    return info.st_dev, info.st_ino


def _open_regular(path: str) -> tuple[int, int]:
    descriptor, folder, _ = open_below(resolve(path), os.O_RDONLY)
    os.close(folder)
    info = os.fstat(descriptor)
    if not stat.S_ISREG(info.st_mode):
        os.close(descriptor)
        raise Refused("path_refused", f"{path} is not a regular file")
    return descriptor, info.st_size


def _text(path: str, limit: int) -> str:
    descriptor, size = _open_regular(path)
    with open(descriptor, "rb") as file:
        if size > limit:
            raise Refused("invalid_spec", f"{path} has {size} bytes; at most {limit} can be edited")
        try:
            return file.read().decode()
        except UnicodeDecodeError:
            raise Refused("invalid_spec", f"{path} is not UTF-8 text") from None


def _replace(path: str, content: bytes) -> Fields:
    """Writes into a temporary file first, which then takes the place of the other."""
    real = resolve(path)
    if os.path.isdir(real):
        raise Refused("path_refused", f"{path} is a folder")
    mode = os.stat(real).st_mode & 0o777 if os.path.exists(real) else 0o644
    descriptor, folder, name = open_below(f"{real}.{os.getpid()}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)
        os.rename(name, os.path.basename(real), src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise
    finally:
        os.close(folder)
    return {"size": len(content)}


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


OPERATIONS: dict[str, Callable[[Fields], Fields]] = {
    "read": read,
    "write": write,
    "edit": edit,
    "remove": remove,
    "list": listing,
    "identify": identify,
}
