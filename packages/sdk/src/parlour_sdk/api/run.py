"""The API of a runner: all its calls to the Host go through `AgentRunAPI`."""

from functools import cached_property
from typing import TYPE_CHECKING

from .base import SharedAPI
from .calls import ApiCalls, WireCaller

if TYPE_CHECKING:
    from .artifacts import ArtifactsAPI
    from .events import EventsAPI
    from .files import FilesAPI
    from .gateway import GatewayAPI
    from .history import HistoryAPI
    from .permissions import PermissionsAPI
    from .platform_actions import PlatformActionsAPI
    from .runtimes import RuntimesAPI
    from .skills import SkillsAPI
    from .state import StateAPI
    from .steering import SteeringAPI


class AgentRunAPI(SharedAPI):
    """Every call carries the run's id and is bounded by the run's deadline."""

    def __init__(
        self, caller: WireCaller, run_id: str, seconds_left: float | None = None, lease: str | None = None
    ) -> None:
        super().__init__(ApiCalls(caller, run_id, run_id, seconds_left, lease))

    @cached_property
    def skills(self) -> "SkillsAPI":
        from .skills import SkillsAPI

        return SkillsAPI(self._calls)

    @cached_property
    def history(self) -> "HistoryAPI":
        from .history import HistoryAPI

        return HistoryAPI(self._calls)

    @cached_property
    def events(self) -> "EventsAPI":
        from .events import EventsAPI

        return EventsAPI(self._calls)

    @cached_property
    def steering(self) -> "SteeringAPI":
        from .steering import SteeringAPI

        return SteeringAPI(self._calls)

    @cached_property
    def artifacts(self) -> "ArtifactsAPI":
        from .artifacts import ArtifactsAPI

        return ArtifactsAPI(self._calls)

    @cached_property
    def state(self) -> "StateAPI":
        from .state import StateAPI

        return StateAPI(self._calls)

    @cached_property
    def files(self) -> "FilesAPI":
        from .files import FilesAPI

        return FilesAPI(self._calls)

    @cached_property
    def platform(self) -> "PlatformActionsAPI":
        from .platform_actions import PlatformActionsAPI

        return PlatformActionsAPI(self._calls)

    @cached_property
    def permissions(self) -> "PermissionsAPI":
        from .permissions import PermissionsAPI

        return PermissionsAPI(self._calls)

    @cached_property
    def gateway(self) -> "GatewayAPI":
        from .gateway import GatewayAPI

        return GatewayAPI(self._calls)

    @cached_property
    def runtimes(self) -> "RuntimesAPI":
        from .runtimes import RuntimesAPI

        return RuntimesAPI(self._calls)
