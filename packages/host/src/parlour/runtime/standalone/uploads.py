"""Packages on their way from a Host: spooled to files, bounded, gone with the connection they came by."""

import base64
import binascii
import secrets
import tempfile
from pathlib import Path

from parlour.core.plugins import PluginProblem
from parlour_sdk.wire import WireError

from .. import disk


class Uploads:
    def __init__(self, folder: Path, limit: int) -> None:
        self._above = folder
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._limit = limit
        self._sizes: dict[str, int] = {}

    def begin(self) -> str:
        if self._folder is None:  # not before: a Host is let in also while the disk is full
            with disk.in_words("the package can't be kept"):
                self._folder = tempfile.TemporaryDirectory(dir=self._above)
        name = secrets.token_hex(8)
        self._sizes[name] = 0
        return name

    def add(self, name: str, data: str) -> None:
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise WireError("invalid_argument", "data: send the next bytes of the package in base64") from error
        path = self.path(name)
        self._sizes[name] += len(content)
        if self._sizes[name] > self._limit:
            self.drop(name)
            raise PluginProblem("payload_too_large", f"a package may have at most {self._limit} bytes")
        with disk.in_words("the package can't be kept"), path.open("ab") as file:
            file.write(content)

    def path(self, name: str) -> Path:
        if self._folder is None or name not in self._sizes:
            raise WireError("not_found", f"there is no upload '{name[:40]}' on this connection")
        return Path(self._folder.name) / f"{name}.zip"

    def drop(self, name: str) -> None:
        self.path(name).unlink(missing_ok=True)
        del self._sizes[name]

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
