"""Actions on the platform that a run asks for."""

from typing import Any

from parlour_sdk.protocol.actions import ActionOutcome, RequestAction

from .calls import Namespace


class PlatformActionsAPI(Namespace):
    async def request_action(
        self,
        action: str,
        target: dict[str, Any] | None = None,
        payload: dict[str, Any] | None = None,
        wait: float = 0,
    ) -> ActionOutcome:
        """`status` says whether it is done, waits for a person or was denied; `wait` parks the run, for seconds."""
        return await self._calls.call(
            "platform_action",
            RequestAction,
            ActionOutcome,
            action=action,
            target=target,
            payload=payload,
            wait_seconds=wait,
        )
