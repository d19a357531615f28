"""Tool names as services take them: letters, digits, _ and -, at most 64. The Host's own may hold anything."""

import hashlib
import re
from collections.abc import Iterable

LENGTH = 64
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


class ToolNames:
    def __init__(self, names: Iterable[str]) -> None:
        self._wire: dict[str, str] = {}
        self._own: dict[str, str] = {}
        for name in names:
            self.wire(name)

    def wire(self, name: str) -> str:
        """The same for the same name; two that would become one are told apart."""
        known = self._wire.get(name)
        if known is not None:
            return known
        plain = _OTHER.sub("_", name)[:LENGTH]
        if not plain or plain in self._own:
            plain = f"{plain[: LENGTH - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
        self._wire[name], self._own[plain] = plain, name
        return plain

    def own(self, name: str) -> str:
        """A name that nobody was told of stays as the model made it up."""
        return self._own.get(name, name)
