"""Steering: messages that arrive while a run is active are claimed for it and returned when it pulls."""

import time
from collections.abc import Callable

from parlour_sdk.protocol.limits import STEERING_QUEUE
from parlour_sdk.protocol.steering import SteeringItem, SteeringPull, SteeringPullResult

from ..gate import Handler
from ..sessions import Caller, Session

RecordMessage = Callable[[Session, str], SteeringItem]
"""Records a message of the user and returns it as a steering item."""


class Steering:
    def __init__(self, say: RecordMessage) -> None:
        self._say = say

    def handlers(self) -> dict[str, Handler]:
        return {"steering_pull": self._pull}

    def claim(self, session: Session, text: str) -> None:
        if "steering_pull" not in session.grant.apis:
            raise ValueError("this runner does not declare the capability 'steering'; the Host would start another run")
        if session.ended or session.stop_status:
            raise ValueError("the run is over; the Host would start another run")
        if len(session.waiting) >= STEERING_QUEUE:
            raise ValueError(f"{STEERING_QUEUE} messages wait already; the Host would start another run")
        session.waiting.append(self._say(session, text).model_copy(update={"claimed_at": int(time.time() * 1000)}))

    async def _pull(self, caller: Caller, request: SteeringPull) -> SteeringPullResult:
        session = caller.run
        session.pulls += 1
        for text in session.steering_by_pull.pop(session.pulls, ()):
            self.claim(session, text)
        limit = 1 if request.mode == "one-at-a-time" else request.limit or STEERING_QUEUE
        items = [session.waiting.popleft() for _ in range(min(limit, len(session.waiting)))]
        return SteeringPullResult(items=items)
