"""Defines AgentRunner, the component that turns one event into a stream of results."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result


class AgentRunner(ABC):
    """One instance serves all runs of its plugin process and must keep nothing between them."""

    @abstractmethod
    def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        """Yields the results of a run; an async generator, cancelled when its run is cancelled."""
