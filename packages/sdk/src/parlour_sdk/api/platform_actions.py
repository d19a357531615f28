"""Lets a run request an action on the platform, which may wait for a person's approval or be denied."""

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
        """Requests an action; `status` says whether it is done, waits for an approval or was denied.

        `wait` is how many seconds the run is suspended at most, until a person has decided.
        """
        return await self._calls.call(
            "platform_action",
            RequestAction,
            ActionOutcome,
            action=action,
            target=target,
            payload=payload,
            wait_seconds=wait,
        )
