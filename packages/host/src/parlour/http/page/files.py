"""Lists the files of the built page with their paths, caching and compression. Serves nothing."""

import mimetypes
from collections.abc import Mapping
from pathlib import Path

from parlour_sdk.values import dataclass

INDEX = "/index.html"
HASHED_PREFIX = "/assets/"
"""Prefix of files whose names contain a hash of their content, so that they never change once fetched."""
CACHE_IMMUTABLE = "public, max-age=31536000, immutable"
CACHE_REVALIDATE = "no-cache"
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
"""Media types of the important files, so that they do not depend on the type registry of the machine."""


@dataclass(frozen=True, slots=True)
class PageFile:
    path: Path
    media_type: str
    cache: str
    compressed: Path | None
    """The gzip version that was made when the page was built."""


class PageFiles:
    """The files of the page, listed again after each build, so that a running Host always serves one complete build."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built = 0
        self._files: Mapping[str, PageFile] = {}

    def get(self, address: str) -> PageFile | None:
        built = _build_time(self._folder)
        if built != self._built:
            self._files, self._built = list_files(self._folder), built
        return self._files.get(address)


def _build_time(folder: Path) -> int:
    """Returns the modification time of the index in nanoseconds; 0 if it does not exist."""
    try:
        return (folder / INDEX.removeprefix("/")).stat().st_mtime_ns
    except OSError:
        return 0


def list_files(folder: Path) -> Mapping[str, PageFile]:
    """Returns every file of a built page by its URL path; no other file is ever opened."""
    paths = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    return {_address(path, folder): _file(path, folder) for path in paths if path.suffix != ".gz"}


def _address(path: Path, folder: Path) -> str:
    return "/" + path.relative_to(folder).as_posix()


def _file(path: Path, folder: Path) -> PageFile:
    compressed = path.with_name(path.name + ".gz")
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    cache = CACHE_IMMUTABLE if _address(path, folder).startswith(HASHED_PREFIX) else CACHE_REVALIDATE
    return PageFile(path, kind, cache, compressed if compressed.is_file() else None)
