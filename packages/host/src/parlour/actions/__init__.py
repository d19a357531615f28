"""Host actions that plugins call: one small function each, bound to the action table by name."""

from collections.abc import Mapping

from parlour.core.access.gate import Handler
from parlour.core.journal import Journal
from parlour.core.ports import Clock
from parlour.core.runs.steering import Steering

from .host import HostActions
from .state import StateActions
from .steering import SteeringActions


def handlers(journal: Journal, steering: Steering, clock: Clock, version: str) -> Mapping[str, Handler]:
    state = StateActions(journal, clock)
    return {
        "state_get": state.get,
        "state_set": state.set,
        "state_delete": state.delete,
        "state_list": state.list,
        "steering_pull": SteeringActions(steering).pull,
        "get_host_version": HostActions(version).version,
    }
