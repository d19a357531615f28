"""Action by which a run requests an operation on its platform."""

from parlour.core.approvals.requests import ActionRequestHandler
from parlour.core.runs.caller import ActionCaller
from parlour_sdk.protocol.actions import ActionOutcome, RequestAction

from .handlers import Handler


class PlatformRequestActions:
    def __init__(self, requests: ActionRequestHandler) -> None:
        self._requests = requests

    def handlers(self) -> dict[str, Handler]:
        return {"platform_action": self.request}

    async def request(self, caller: ActionCaller, request: RequestAction) -> ActionOutcome:
        return await self._requests.request(
            caller.run_session, request.action, request.target, request.payload, request.wait_seconds
        )
