"""`python -m tools.box_image FILE` writes a tar archive of a small root file system: a shell, its tools, and Python."""

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

PACKAGES = (
    *("bash", "coreutils", "dash", "grep", "sed", "findutils", "libc6", "libtinfo6", "libselinux1", "libpcre2-8-0"),
    *(
        "util-linux",
        "libsmartcols1",
        "libacl1",
        "libattr1",
        "libgmp10",
        "libssl3",
        "zlib1g",
        "libexpat1",
        "libbz2-1.0",
        "liblzma5",
        "libffi8",
    ),
    *("python3-minimal", "python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"),
)
LEFT_OUT = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/lintian/", "/usr/share/info/")
MERGED = ("bin", "lib", "lib64", "sbin")
"""Folders that are links into /usr."""
FOLDERS = ("dev", "etc", "proc", "run", "sys", "tmp")


def main() -> None:
    files = {_inside(path): path for path in _files()}
    parents = {str(parent) for inside in files for parent in Path(inside).parents} - {"."}
    with tarfile.open(sys.argv[1], "w") as archive:
        for name in sorted({*FOLDERS, *parents}):
            _add(archive, name, tarfile.DIRTYPE)
        for name in MERGED:
            _add(archive, name, tarfile.SYMTYPE, f"usr/{name}")
        for inside, path in sorted(files.items()):
            archive.add(path, arcname=inside, recursive=False)


def _files() -> Iterator[Path]:
    listed = subprocess.run(["dpkg", "-L", *PACKAGES], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        is_file = (os.path.islink(line) or os.path.isfile(line)) and line.lstrip("/") not in MERGED
        if line.startswith("/") and is_file and not line.startswith(LEFT_OUT):
            yield Path(line)


def _inside(path: Path) -> str:
    inside = str(path).lstrip("/")
    return f"usr/{inside}" if inside.split("/")[0] in MERGED else inside


def _add(archive: tarfile.TarFile, name: str, kind: bytes, target: str = "") -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.mode = kind, target, 0o1777 if name == "tmp" else 0o755
    archive.addfile(entry)


if __name__ == "__main__":
    main()
