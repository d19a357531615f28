"""An AgentRunner turns one event into a stream of results."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result


class AgentRunner(ABC):
    """One instance serves all runs of its plugin process and keeps nothing between them."""

    @abstractmethod
    def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        """An async generator. It is cancelled when its run is."""
