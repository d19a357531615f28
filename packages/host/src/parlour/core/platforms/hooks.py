"""Platforms that call the Host: what comes over HTTP for a bot, and what its adapter answers."""

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol, runtime_checkable

from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class HookCall:
    """The names of headers are in small letters."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HookAnswer:
    status: int = 200
    text: str = ""


@runtime_checkable
class TakesHooks(Protocol):
    """An adapter in a mode in which its platform calls. Whether a call is genuine, it says itself."""

    async def hook(self, call: HookCall) -> HookAnswer:
        """Answers when what came is durable."""
        ...
