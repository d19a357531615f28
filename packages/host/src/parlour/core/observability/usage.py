"""Counts the model usage of each agent as it is committed. `statistics` stores it by the hour."""

from collections import Counter, OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

from parlour.core.encoding import loads
from parlour.core.journal import Insert, Statement, Unit
from parlour.core.model.ids import NO_AGENT, AgentId, ModelId, RunId
from parlour.core.runs.usage import REFUSED_BY_BUDGET, UNKNOWN_COST_OUTCOMES
from parlour.core.store.tables import RUN_EVENTS, RUNS

STATISTIC_PREFIX = "used"
"""First part of the names under which usage is stored in the statistics."""
COUNTED_FIELDS = ("calls", "unpriced_calls", "prompt_tokens", "completion_tokens", "cost_micros")
"""Values that are counted for each agent and model."""
PROCESSED_OUTCOMES = ("answered", *UNKNOWN_COST_OUTCOMES)
"""Outcomes of calls that a model processed, or may have processed."""
MAX_TRACKED_RUNS = 20_000
"""Maximum number of runs whose agent is kept; the oldest are dropped, and their usage is counted without an agent."""


class UsageKey(NamedTuple):
    """Identifies one counter: agent, model and the value that is counted."""

    agent_id: AgentId
    model_id: ModelId
    figure: str

    def statistic_name(self) -> str:
        """Returns the name under which the statistics store this counter."""
        return " ".join((STATISTIC_PREFIX, self.agent_id or "-", self.model_id, self.figure))


def parse_usage_key(name: str) -> UsageKey | None:
    """Parses the name of a statistic. Returns None if it is not a counter of model usage."""
    parts = name.split(" ")
    if len(parts) != 4 or parts[0] != STATISTIC_PREFIX:
        return None
    return UsageKey(AgentId(parts[1].removeprefix("-")), ModelId(parts[2]), parts[3])


class UsageTotals:
    """Adds up the usage of model calls by agent and model."""

    def __init__(self) -> None:
        self._totals: Counter[UsageKey] = Counter()
        self._agents: OrderedDict[RunId, AgentId] = OrderedDict()

    def on_commit(self, unit: Unit) -> None:
        """Counts the model calls of a committed unit. It is an observer of the journal."""
        for statement in unit.statements:
            if statement.table is RUN_EVENTS:
                self._event(statement)
            elif statement.table is RUNS and isinstance(statement, Insert):
                self._remember_agent(RunId(str(statement.values["run_id"])), AgentId(str(statement.values["agent_id"])))

    def totals(self) -> Iterator[tuple[str, int]]:
        """Yields whole numbers that only grow, each with the name of its statistic."""
        for key, amount in self._totals.items():
            yield key.statistic_name(), amount

    def _remember_agent(self, run_id: RunId, agent_id: AgentId) -> None:
        self._agents[run_id] = agent_id
        if len(self._agents) > MAX_TRACKED_RUNS:
            self._agents.popitem(last=False)

    def _event(self, statement: Statement) -> None:
        if not isinstance(statement, Insert) or statement.values["type"] != "model.called":
            return
        data = loads(str(statement.values["data"]))
        if data.get("outcome") == REFUSED_BY_BUDGET:
            return
        agent_id, model_id = (
            self._agents.get(RunId(str(statement.values["run_id"])), NO_AGENT),
            ModelId(str(data["name"])),
        )
        usage = data.get("usage", {})
        if not usage and data.get("outcome") not in PROCESSED_OUTCOMES:
            return  # refused by a budget or by the service, or failed on the way to it: no model was used
        is_unpriced = "cost_micros" not in usage if usage else data.get("outcome") in UNKNOWN_COST_OUTCOMES
        amounts = {"calls": 1, "unpriced_calls": int(is_unpriced), **usage}
        for field in COUNTED_FIELDS:
            amount = amounts.get(field)
            if isinstance(amount, int) and amount > 0:
                self._totals[UsageKey(agent_id, model_id, field)] += amount
