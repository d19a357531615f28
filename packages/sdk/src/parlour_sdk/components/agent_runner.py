"""Defines AgentRunner, the component that turns one event into a stream of results."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result

from ..values import dataclass


@dataclass(frozen=True, slots=True)
class ConnectionCheck:
    """The outcome of *Test connection*: a code, empty if the configuration works, and a sentence for the operator."""

    code: str
    message: str

    @property
    def ok(self) -> bool:
        return not self.code


class AgentRunner(ABC):
    """One instance serves all runs of its plugin process and must keep nothing between them."""

    @abstractmethod
    def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        """Yields the results of a run; an async generator, cancelled when its run is cancelled."""

    async def test_connection(self, values: Mapping[str, Any], locale: str | None = None) -> ConnectionCheck:
        """Checks the values of the configuration form for *Test connection*, which the capability `connection_test`
        declares. `locale` is the operator's language.
        """
        raise NotImplementedError("the runner declares connection_test and does not implement test_connection")
