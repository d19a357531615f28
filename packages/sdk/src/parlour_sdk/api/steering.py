"""Messages that were sent to the conversation while this run was active."""

from typing import Literal

from parlour_sdk.protocol.run_api import SteeringItem, SteeringPullResult

from .calls import RunCalls


class SteeringAPI:
    def __init__(self, calls: RunCalls) -> None:
        self._calls = calls

    async def pull(self, mode: Literal["all", "one-at-a-time"] = "all", limit: int | None = None) -> list[SteeringItem]:
        return (await self._calls.call("steering_pull", SteeringPullResult, mode=mode, limit=limit)).items
