"""Action by which a run requests an operation on its platform."""

from parlour.core.approvals.requests import ActionRequests
from parlour.core.runs.caller import Caller
from parlour_sdk.protocol.actions import ActionOutcome, RequestAction


class PlatformActionRequests:
    def __init__(self, requests: ActionRequests) -> None:
        self._requests = requests

    async def request(self, caller: Caller, asked: RequestAction) -> ActionOutcome:
        return await self._requests.request(caller.run, asked.action, asked.target, asked.payload, asked.wait_seconds)
