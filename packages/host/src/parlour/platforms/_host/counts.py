"""Counts what the bots of each platform receive and send, for `/metrics`. The only labels are platform and result."""

from collections.abc import Callable, Mapping
from typing import Literal

from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import ConnectionState

Count = Callable[..., None]
"""Adds one to the counter of this name and these labels."""
SendResult = Literal["accepted", "refused", "unacknowledged"]
UNKNOWN = "unknown"
"""Label of a platform that this version does not have."""


class PlatformCounts:
    def __init__(self, count: Count, manifests: Callable[[], Mapping[str, AdapterManifest]]) -> None:
        self._count = count
        self._manifests = manifests

    def event(self, platform: str) -> None:
        self._count("parlour_platform_events_total", self._label(platform))

    def send(self, platform: str, result: SendResult) -> None:
        self._count("parlour_platform_sends_total", self._label(platform), ("result", result))

    def status(self, platform: str, previous: ConnectionState, state: ConnectionState) -> None:
        """Counts a connection that was lost; one that an operator ends is not."""
        if previous == "connected" and state in ("connecting", "failed"):
            self._count("parlour_platform_disconnects_total", self._label(platform))

    def _label(self, platform: str) -> tuple[str, str]:
        return "platform", platform if platform in self._manifests() else UNKNOWN
