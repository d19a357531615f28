"""What a committed unit means to somebody who watches: read off its statements, so that no path has to tell."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from parlour.core.facts.tables import (
    AGENTS,
    APPROVALS,
    AUDIT,
    BOTS,
    BUDGETS,
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
from parlour.core.journal import Condition, Delete, Insert, Statement, Unit

Kind = Literal["event", "run", "delivery", "approval", "denial", "configuration"]


class Happening(NamedTuple):
    """Made several times per message, and so as cheap as can be."""

    kind: Kind
    id: str
    """Of the event, run, outgoing message or configured thing."""
    state: str
    facts: Mapping[str, Any]


def happenings(unit: Unit) -> Iterator[Happening]:
    for statement in unit.statements:
        look = _LOOKS.get(statement.table.name)
        happening = look(statement) if look is not None else None
        if happening is not None:
            yield happening


def _event(statement: Statement) -> Happening | None:
    if not isinstance(statement, Insert):
        return None
    facts = _chosen(
        statement.values, "event_type", "source", "bot_id", "conversation_id", "input_summary", "created_at"
    )
    return Happening("event", str(statement.values["event_id"]), "accepted", facts)


def _run(statement: Statement) -> Happening | None:
    """A run that begins, or whose status changes."""
    if isinstance(statement, Delete) or "status" not in statement.values:
        return None
    status = str(statement.values["status"])
    if isinstance(statement, Insert):
        names = ("agent_id", "bot_id", "conversation_id", "event_id", "runner_id", "rerun_of", "created_at")
        return Happening("run", str(statement.values["run_id"]), status, _chosen(statement.values, *names))
    run_id = _named(statement.where, "run_id")
    facts = _chosen(statement.values, "status_reason", "error", "usage", "finished_at", "updated_at")
    return Happening("run", run_id, status, facts) if run_id else None


def _delivery(statement: Statement) -> Happening | None:
    if isinstance(statement, Delete) or "state" not in statement.values:
        return None
    state = str(statement.values["state"])
    if isinstance(statement, Insert):
        names = ("surface", "bot_id", "conversation_id", "run_id", "kind")
        return Happening("delivery", str(statement.values["outbox_id"]), state, _chosen(statement.values, *names))
    outbox_id = _named(statement.where, "outbox_id")
    return Happening("delivery", outbox_id, state, _chosen(statement.values, "reason")) if outbox_id else None


def _approval(statement: Statement) -> Happening | None:
    if isinstance(statement, Delete) or "status" not in statement.values:
        return None
    status = str(statement.values["status"])
    if isinstance(statement, Insert):
        names = ("action", "words", "agent_id", "run_id", "conversation_id", "created_at", "expires_at")
        return Happening("approval", str(statement.values["approval_id"]), status, _chosen(statement.values, *names))
    approval_id = _named(statement.where, "approval_id")
    facts = _chosen(statement.values, "decided_by", "reason", "decided_at")
    return Happening("approval", approval_id, status, facts) if approval_id else None


def _settings(statement: Statement) -> Happening | None:
    """Among other notes of the Host's own."""
    if not isinstance(statement, Insert) or statement.values["name"] != "settings":
        return None
    return Happening("configuration", "settings", "changed", {"what": "settings"})


def _audit(statement: Statement) -> Happening | None:
    if not isinstance(statement, Insert) or statement.values["kind"] != "access":
        return None
    if statement.values["outcome"] != "denied":
        return None
    facts = _chosen(statement.values, "plugin_id", "action", "code")
    return Happening("denial", str(statement.values["run_id"]), "denied", facts)


def _configured(key: str) -> Callable[[Statement], Happening]:
    def look(statement: Statement) -> Happening:
        found = str(statement.values[key]) if isinstance(statement, Insert) else _named(statement.where, key)
        state = "deleted" if isinstance(statement, Delete) else "changed"
        return Happening("configuration", found, state, {"what": statement.table.name})

    return look


def _chosen(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _named(conditions: tuple[Condition, ...], column: str) -> str:
    return next((str(each.value) for each in conditions if each.column == column and each.operator == "="), "")


_LOOKS: dict[str, Callable[[Statement], Happening | None]] = {
    EVENTS.name: _event,
    RUNS.name: _run,
    OUTBOX.name: _delivery,
    APPROVALS.name: _approval,
    META.name: _settings,
    AUDIT.name: _audit,
    AGENTS.name: _configured("agent_id"),
    BOTS.name: _configured("bot_id"),
    ROUTES.name: _configured("bot_id"),
    SCHEDULES.name: _configured("schedule_id"),
    MODEL_PROVIDERS.name: _configured("provider_id"),
    MODELS.name: _configured("model_id"),
    MCP_SERVERS.name: _configured("server_id"),
    BUDGETS.name: _configured("budget_id"),
    WEBHOOKS.name: _configured("webhook_id"),
}
