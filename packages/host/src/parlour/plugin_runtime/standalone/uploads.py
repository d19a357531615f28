"""Receives packages from a Host into files. They are limited in number and bytes, and deleted with their connection."""

import base64
import binascii
import secrets
import tempfile
import time
from pathlib import Path

from parlour.core.model.plugin_manager import PluginError
from parlour_sdk.wire import WireError

from .. import disk_errors

MAX_OPEN_UPLOADS = 4
"""Maximum number of packages that one connection may be sending or have sent without installing them."""


STALE_SECONDS = 60.0
"""Seconds without data after which an upload counts as given up by its Host."""


class Uploads:
    def __init__(self, folder: Path, limit: int) -> None:
        self._parent = folder
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._limit = limit
        self._sizes: dict[str, int] = {}
        self._changed_at: dict[str, float] = {}
        """Times of the last bytes of uploads that are still being received."""

    def begin(self) -> str:
        self._drop_stale()
        if len(self._sizes) >= MAX_OPEN_UPLOADS:
            sentence = f"{MAX_OPEN_UPLOADS} uploads are open on this connection; install one of them first"
            raise PluginError("rate_limited", sentence)
        if self._folder is None:  # created late: a Host is admitted even if the disk is full
            with disk_errors.translate_os_errors("the package can't be kept"):
                self._folder = tempfile.TemporaryDirectory(dir=self._parent)
        name = secrets.token_hex(8)
        self._sizes[name] = 0
        self._changed_at[name] = time.monotonic()
        return name

    def add(self, name: str, data: str) -> None:
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise WireError("invalid_argument", "data: send the next bytes of the package in base64") from error
        path = self.path(name)
        self._sizes[name] += len(content)
        self._changed_at[name] = time.monotonic()
        self._drop_stale()
        if sum(self._sizes.values()) > self._limit:
            self.drop(name)
            sentence = f"a package, and all open uploads of a connection together, may have at most {self._limit} bytes"
            raise PluginError("payload_too_large", sentence)
        with disk_errors.translate_os_errors("the package can't be kept"), path.open("ab") as file:
            file.write(content)

    def finish(self, name: str) -> Path:
        """Returns the complete package, which stays until it is dropped."""
        path = self.path(name)
        self._changed_at.pop(name, None)
        return path

    def path(self, name: str) -> Path:
        if self._folder is None or name not in self._sizes:
            raise WireError("not_found", f"there is no upload '{name[:40]}' on this connection")
        return Path(self._folder.name) / f"{name}.zip"

    def drop(self, name: str) -> None:
        self.path(name).unlink(missing_ok=True)
        del self._sizes[name]
        self._changed_at.pop(name, None)

    def _drop_stale(self) -> None:
        now = time.monotonic()
        for name in [name for name, changed_at in self._changed_at.items() if now - changed_at > STALE_SECONDS]:
            self.drop(name)

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
