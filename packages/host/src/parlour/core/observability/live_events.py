"""Derives live events from the statements of a committed unit, so that callers need not publish them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from parlour.core.journal import Condition, Delete, Insert, Statement, Table, Unit
from parlour.core.store.tables import (
    AGENTS,
    APPROVALS,
    AUDIT,
    BOTS,
    BUDGETS,
    DEFAULT_AGENTS,
    EVENTS,
    MCP_SERVERS,
    META,
    MODEL_PROVIDERS,
    MODELS,
    OUTBOX,
    ROUTES,
    RUNS,
    SCHEDULES,
    WEBHOOKS,
)

Kind = Literal["event", "run", "delivery", "approval", "denial", "configuration"]

_OF_EVENT = ("event_type", "source", "bot_id", "conversation_id", "input_summary", "created_at")
_OF_NEW_RUN = ("agent_id", "bot_id", "conversation_id", "event_id", "runner_id", "rerun_of", "created_at")
_OF_RUN = ("status_reason", "error", "usage", "finished_at", "updated_at")
_OF_NEW_DELIVERY = ("surface", "bot_id", "conversation_id", "run_id", "kind")
_OF_NEW_APPROVAL = ("action", "words", "agent_id", "run_id", "conversation_id", "created_at", "expires_at")
_OF_APPROVAL = ("decided_by", "reason", "decided_at")
_OF_DENIAL = ("plugin_id", "action", "code")


class Happening(NamedTuple):
    """A change that subscribers of the live feed see.

    Several are created per message, so creating one must be cheap.
    """

    kind: Kind
    id: str
    """Id of the event, run, outbox row, approval or configured object; of a denial, the run's id."""
    state: str
    values: Mapping[str, Any]
    """Columns that the statement writes."""
    told: tuple[str, ...] = ()
    """Names of the columns that may be published."""

    @property
    def facts(self) -> dict[str, Any]:
        """The written values that may be published."""
        return {name: self.values[name] for name in self.told if name in self.values}


def happenings(unit: Unit) -> Iterator[Happening]:
    """Yields the live events of a committed unit."""
    for statement in unit.statements:
        if statement.table in _LOOKS:
            happening = _LOOKS[statement.table](statement)
            if happening is not None:
                yield happening


def _event(statement: Statement) -> Happening | None:
    if not isinstance(statement, Insert):
        return None
    return Happening("event", str(statement.values["event_id"]), "accepted", statement.values, _OF_EVENT)


def _run(statement: Statement) -> Happening | None:
    """Returns the live event of a run that starts or whose status changes."""
    if isinstance(statement, Delete) or "status" not in statement.values:
        return None
    status = str(statement.values["status"])
    if isinstance(statement, Insert):
        return Happening("run", str(statement.values["run_id"]), status, statement.values, _OF_NEW_RUN)
    run_id = _named(statement.where, "run_id")
    return Happening("run", run_id, status, statement.values, _OF_RUN) if run_id else None


def _delivery(statement: Statement) -> Happening | None:
    if isinstance(statement, Delete) or "state" not in statement.values:
        return None
    state = str(statement.values["state"])
    if isinstance(statement, Insert):
        return Happening("delivery", str(statement.values["outbox_id"]), state, statement.values, _OF_NEW_DELIVERY)
    outbox_id = _named(statement.where, "outbox_id")
    return Happening("delivery", outbox_id, state, statement.values, ("reason",)) if outbox_id else None


def _approval(statement: Statement) -> Happening | None:
    if isinstance(statement, Delete) or "status" not in statement.values:
        return None
    status = str(statement.values["status"])
    if isinstance(statement, Insert):
        return Happening("approval", str(statement.values["approval_id"]), status, statement.values, _OF_NEW_APPROVAL)
    approval_id = _named(statement.where, "approval_id")
    return Happening("approval", approval_id, status, statement.values, _OF_APPROVAL) if approval_id else None


def _settings(statement: Statement) -> Happening | None:
    """Returns the live event of changed settings, which are stored beside other values of the Host itself."""
    if not isinstance(statement, Insert) or statement.values["name"] != "settings":
        return None
    return Happening("configuration", "settings", "changed", {"what": "settings"}, ("what",))


def _audit(statement: Statement) -> Happening | None:
    if not isinstance(statement, Insert) or statement.values["kind"] != "access":
        return None
    if statement.values["outcome"] != "denied":
        return None
    return Happening("denial", str(statement.values["run_id"]), "denied", statement.values, _OF_DENIAL)


def _configured(key: str) -> Callable[[Statement], Happening]:
    def look(statement: Statement) -> Happening:
        found = str(statement.values[key]) if isinstance(statement, Insert) else _named(statement.where, key)
        state = "deleted" if isinstance(statement, Delete) else "changed"
        return Happening("configuration", found, state, {"what": statement.table.name}, ("what",))

    return look


def _named(conditions: tuple[Condition, ...], column: str) -> str:
    for condition in conditions:
        if condition.column == column and condition.operator == "=":
            return str(condition.value)
    return ""


_LOOKS: dict[Table, Callable[[Statement], Happening | None]] = {
    EVENTS: _event,
    RUNS: _run,
    OUTBOX: _delivery,
    APPROVALS: _approval,
    META: _settings,
    AUDIT: _audit,
    AGENTS: _configured("agent_id"),
    BOTS: _configured("bot_id"),
    ROUTES: _configured("bot_id"),
    DEFAULT_AGENTS: _configured("default_id"),
    SCHEDULES: _configured("schedule_id"),
    MODEL_PROVIDERS: _configured("provider_id"),
    MODELS: _configured("model_id"),
    MCP_SERVERS: _configured("server_id"),
    BUDGETS: _configured("budget_id"),
    WEBHOOKS: _configured("webhook_id"),
}
