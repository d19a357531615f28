"""Offers the gate to plugin connections: answers stay protocol models, which the wire encodes in one pass."""

from collections.abc import AsyncGenerator
from typing import Any

from pydantic import BaseModel

from parlour.core.model.ids import PluginId

from .gate import Gate


class WireGate:
    """Serves the calls of a plugin connection from the gate, without converting answers to dicts."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def streams(self, name: str) -> bool:
        return self._gate.streams(name)

    async def call(self, plugin_id: PluginId, name: str, data: Any) -> BaseModel:
        return await self._gate.call_typed(plugin_id, name, data)

    def stream(self, plugin_id: PluginId, name: str, data: Any) -> AsyncGenerator[BaseModel, None]:
        return self._gate.stream_typed(plugin_id, name, data)
