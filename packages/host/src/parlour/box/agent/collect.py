"""Packs what has changed in the workspace, for a Box that has no access to its disk.

Arguments: the digests of the files as they were at the start, the archive to write, and its largest size in bytes.
Prints the paths of unchanged files as a list of JSON.
"""

import hashlib
import json
import os
import stat
import sys
import tarfile

ROOT = "/workspace"
LEFT_OUT = (".skills",)
FULL = 3
"""Exit status if there are more bytes than allowed."""


def main(manifest_path: str, archive_path: str, limit: int) -> int:
    with open(manifest_path, encoding="utf-8") as file:
        manifest = json.load(file)
    unchanged = []
    with tarfile.open(archive_path, "w") as archive:
        for parent, folders, files in os.walk(ROOT):
            if parent == ROOT:
                folders[:] = [name for name in folders if name not in LEFT_OUT]
            for name in [*folders, *files]:
                path = os.path.join(parent, name)
                relative = os.path.relpath(path, ROOT)
                try:
                    info = os.lstat(path)
                    if stat.S_ISREG(info.st_mode) and manifest.get(relative) == digest(path):
                        unchanged.append(relative)
                        continue
                    limit -= info.st_size
                    if limit < 0:
                        return FULL
                    if stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode) or stat.S_ISLNK(info.st_mode):
                        archive.add(path, relative, recursive=False)
                except OSError:
                    continue  # it has vanished, or can't be read
    sys.stdout.write(json.dumps(unchanged))
    return 0


def digest(path: str) -> str:
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while True:
            chunk = file.read(1024 * 1024)
            if not chunk:
                return found.hexdigest()
            found.update(chunk)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
