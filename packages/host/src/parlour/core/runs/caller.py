"""The caller of an action: a plugin inside one of its runs, or outside any. The gate creates it for the action."""

from parlour.core.access.grants import Grant
from parlour.core.model.ids import NO_RUNNER, PluginId, RunnerId
from parlour.core.model.providers import CallContext
from parlour.core.runs.session import RunSession
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class ActionCaller:
    """A plugin with its grant, and its run if the call belongs to one."""

    plugin_id: PluginId
    grant: Grant
    session: RunSession | None = None
    via: str = ""
    """The way by which the call came, for the audit; empty if from the plugin itself."""

    @property
    def runner_id(self) -> RunnerId:
        """Id of the run's runner; empty outside runs."""
        return self.grant.runner_id if self.session is not None else NO_RUNNER

    @property
    def run_session(self) -> RunSession:
        """The session of the run, for actions that are declared to need one."""
        assert self.session is not None
        return self.session

    def call_context(self) -> CallContext:
        return CallContext(self.plugin_id) if self.session is None else self.session.call_context(self.plugin_id)
