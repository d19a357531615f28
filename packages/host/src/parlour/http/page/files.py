"""The files of the built page: which there are, how they are named, cached and compressed. Serves nothing."""

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
