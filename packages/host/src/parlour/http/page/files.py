"""The files of the built page: which there are, how they are named, cached and compressed. Serves nothing."""

import mimetypes
from collections.abc import Mapping
from pathlib import Path

from parlour_sdk.values import dataclass

INDEX = "/index.html"
HASHED = "/assets/"
"""A name here holds a hash of its content, so what was fetched once never changes."""
FOREVER = "public, max-age=31536000, immutable"
ASKED_EACH_TIME = "no-cache"
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
"""Those that matter are the same on every machine, whatever its registry of types says."""


@dataclass(frozen=True, slots=True)
class PageFile:
    path: Path
    media_type: str
    cache: str
    compressed: Path | None
    """The same, made smaller when the page was built."""


class PageFiles:
    """Looked for again whenever the page was built anew: a Host goes on serving one that is whole."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built = 0
        self._files: Mapping[str, PageFile] = {}

    def get(self, address: str) -> PageFile | None:
        built = _built(self._folder)
        if built != self._built:
            self._files, self._built = found(self._folder), built
        return self._files.get(address)


def _built(folder: Path) -> int:
    """When; 0 if it is not there."""
    try:
        return (folder / INDEX.removeprefix("/")).stat().st_mtime_ns
    except OSError:
        return 0


def found(folder: Path) -> Mapping[str, PageFile]:
    """Every file of a built page by its path in the address; nothing else is ever opened."""
    paths = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    return {_address(path, folder): _file(path, folder) for path in paths if path.suffix != ".gz"}


def _address(path: Path, folder: Path) -> str:
    return "/" + path.relative_to(folder).as_posix()


def _file(path: Path, folder: Path) -> PageFile:
    compressed = path.with_name(path.name + ".gz")
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    cache = FOREVER if _address(path, folder).startswith(HASHED) else ASKED_EACH_TIME
    return PageFile(path, kind, cache, compressed if compressed.is_file() else None)
