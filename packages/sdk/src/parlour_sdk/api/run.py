"""The only way a runner reaches the Host."""

from .calls import Caller, RunCalls
from .host import HostAPI
from .state import StateAPI
from .steering import SteeringAPI


class AgentRunAPI:
    def __init__(self, caller: Caller, run_id: str, seconds_left: float | None = None) -> None:
        calls = RunCalls(caller, run_id, seconds_left)
        self.state = StateAPI(calls)
        self.steering = SteeringAPI(calls)
        self.host = HostAPI(calls)
