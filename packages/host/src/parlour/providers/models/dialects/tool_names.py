"""Maps tool names to those that services accept: letters, digits, _ and -, at most 64.

The Host's names have no such limits.
"""

import hashlib
import re
from collections.abc import Iterable

MAX_NAME_LENGTH = 64
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


class ToolNames:
    """Tool names of one request."""

    def __init__(self, names: Iterable[str]) -> None:
        self._wire: dict[str, str] = {}
        self._own: dict[str, str] = {}
        for name in names:
            self.wire(name)

    def wire(self, name: str) -> str:
        """Returns the wire name: always the same for one name, and different for different names."""
        known = self._wire.get(name)
        if known is not None:
            return known
        plain = _OTHER.sub("_", name)[:MAX_NAME_LENGTH]
        if not plain or plain in self._own:
            plain = f"{plain[: MAX_NAME_LENGTH - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
        self._wire[name], self._own[plain] = plain, name
        return plain

    def own(self, name: str) -> str:
        """Returns the Host's name; an unknown name stays as the model made it up."""
        return self._own.get(name, name)
