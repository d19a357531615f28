"""Action by which a run pulls the messages that were sent while it was active."""

from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.steering import SteeringQueue
from parlour_sdk.protocol.limits import STEERING_QUEUE
from parlour_sdk.protocol.steering import SteeringPull, SteeringPullResult

from .handlers import Handler


class SteeringActions:
    def __init__(self, steering: SteeringQueue) -> None:
        self._steering = steering

    def handlers(self) -> dict[str, Handler]:
        return {"steering_pull": self.pull}

    async def pull(self, caller: ActionCaller, request: SteeringPull) -> SteeringPullResult:
        limit = 1 if request.mode == "one-at-a-time" else request.limit or STEERING_QUEUE
        return SteeringPullResult.model_validate({"items": await self._steering.pull(caller.run_session, limit)})
