"""Admits the requests of clients to doors: authentication, scope, rate limit and metrics."""

from collections import OrderedDict
from collections.abc import Callable

from starlette.requests import HTTPConnection

from parlour.core.access.rate_limit import TokenBucket
from parlour.core.model.agent import Agent
from parlour.core.model.doors import Door

from ..errors import Problem
from ..principals import Authenticator, Principal
from .published import PublishedAgents

MAX_TRACKED_CALLERS = 10_000
"""Maximum number of callers whose rate is tracked; the one that was idle longest is dropped."""
CountRequest = Callable[[Door, str], None]
"""Counts a request to a door by its result: `accepted` or the code of the refusal."""


class DoorAccess:
    def __init__(
        self,
        authenticator: Authenticator,
        agents: PublishedAgents,
        requests_per_minute: int,
        count: CountRequest,
    ) -> None:
        """`requests_per_minute`: 0 means no limit."""
        self.agents = agents
        self.count = count
        self._authenticator = authenticator
        self._per_minute = requests_per_minute
        self._buckets: OrderedDict[tuple[Door, str], TokenBucket] = OrderedDict()

    async def admit(self, connection: HTTPConnection, door: Door) -> Principal:
        """Returns the principal of a request; raises Problem if it may not use the door or uses it too often."""
        principal = await self._authenticator.authorize(connection, "mcp" if door == "mcp" else "chat")
        if self._per_minute and not self._bucket(door, principal.owner).try_acquire():
            message = f"this key sent more than {self._per_minute} requests per minute; wait a few seconds"
            raise Problem(429, "rate_limited", message, {"retry_after": 60 / self._per_minute})
        return principal

    def agent(self, door: Door, agent_id: str) -> Agent:
        """Returns the published agent of an id; raises Problem if there is none."""
        agent = self.agents.get(door, agent_id)
        if agent is None:
            raise Problem(404, "not_found", f"no agent '{agent_id[:200]}' is published here")
        return agent

    def _bucket(self, door: Door, owner: str) -> TokenBucket:
        key = (door, owner)
        if key not in self._buckets and len(self._buckets) >= MAX_TRACKED_CALLERS:
            self._buckets.popitem(last=False)
        bucket = self._buckets.setdefault(key, TokenBucket(self._per_minute / 60, max(1, self._per_minute)))
        self._buckets.move_to_end(key)
        return bucket
