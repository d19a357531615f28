"""Pulls messages that were sent to the conversation while this run was active."""

from parlour_sdk.protocol.steering import SteeringItem, SteeringMode, SteeringPull, SteeringPullResult

from .calls import Namespace


class SteeringAPI(Namespace):
    async def pull(self, mode: SteeringMode = "all", limit: int | None = None) -> list[SteeringItem]:
        """Returns the waiting messages. Call it after each step, and once more before the run ends."""
        answer = await self._calls.call("steering_pull", SteeringPull, SteeringPullResult, mode=mode, limit=limit)
        return answer.items
