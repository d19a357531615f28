"""Every Host action, one row each. The gate enforces the row; an action without one does not exist."""

from dataclasses import dataclass

from parlour_sdk.protocol.limits import STATE_VALUE_BYTES
from parlour_sdk.protocol.run_api import (
    HostVersionGet,
    RunCall,
    StateDelete,
    StateGet,
    StateList,
    StateSet,
    SteeringPull,
)


@dataclass(frozen=True, slots=True)
class Action:
    name: str
    request: type[RunCall]
    api: str = ""
    """The entry of `available_apis` that must be granted; empty for what every run may do."""
    scoped: bool = False
    """The request names a state scope, which must be one of the run's own."""
    max_bytes: int = 16 * 1024


ACTIONS: dict[str, Action] = {
    action.name: action
    for action in (
        Action("state_get", StateGet, api="state", scoped=True),
        Action("state_set", StateSet, api="state", scoped=True, max_bytes=STATE_VALUE_BYTES + 1024),
        Action("state_delete", StateDelete, api="state", scoped=True),
        Action("state_list", StateList, api="state", scoped=True),
        Action("steering_pull", SteeringPull, api="steering_pull"),
        Action("get_host_version", HostVersionGet),
    )
}
