"""Calls platform-specific actions that an adapter declares."""

from typing import Any

from parlour_sdk.protocol.platform_api import CallPlatformApi, PlatformAnswer

from .calls import Namespace


class PlatformAPI(Namespace):
    async def call(self, bot_id: str, action: str, params: dict[str, Any] | None = None) -> Any:
        answer = await self._calls.call(
            "call_platform_api", CallPlatformApi, PlatformAnswer, bot_id=bot_id, action=action, params=params or {}
        )
        return answer.result
