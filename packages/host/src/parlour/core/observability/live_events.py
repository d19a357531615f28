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
    JOBS,
    KNOWLEDGE_BASES,
    KNOWLEDGE_FILES,
    MCP_SERVERS,
    MEMORIES,
    META,
    MODEL_PROVIDERS,
    MODELS,
    OUTBOX,
    PIPELINES,
    PLUGIN_CONFIGS,
    ROUTES,
    RUNS,
    SCHEDULES,
    SKILLS,
    WEBHOOKS,
    WORD_LISTS,
)

LiveEventKind = Literal["event", "run", "delivery", "approval", "job", "denial", "configuration"]

_OF_EVENT = ("event_type", "source", "bot_id", "conversation_id", "input_summary", "created_at")
_OF_NEW_RUN = ("agent_id", "bot_id", "conversation_id", "event_id", "runner_id", "rerun_of", "created_at")
_OF_RUN = ("status_reason", "error", "usage", "finished_at", "updated_at")
_OF_NEW_DELIVERY = ("surface", "bot_id", "conversation_id", "run_id", "kind")
_OF_NEW_APPROVAL = ("action", "words", "agent_id", "run_id", "conversation_id", "created_at", "expires_at")
_OF_APPROVAL = ("decided_by", "reason", "decided_at")
_OF_NEW_JOB = ("kind", "order_key", "created_at")
_OF_JOB = ("attempts", "stage", "done", "total", "message", "error", "not_before", "finished_at")
_OF_DENIAL = ("plugin_id", "action", "code")


class LiveEvent(NamedTuple):
    """A change that subscribers of the live feed see.

    Several are created per message, so creating one must be cheap.
    """

    kind: LiveEventKind
    id: str
    """Id of the event, run, outbox row, approval, job or configured object; of a denial, the run's id."""
    state: str
    values: Mapping[str, Any]
    """Columns that the statement writes."""
    public_columns: tuple[str, ...] = ()
    """Names of the columns that may be published."""

    @property
    def public_values(self) -> dict[str, Any]:
        """The written values that may be published."""
        return {name: self.values[name] for name in self.public_columns if name in self.values}


def derive_live_events(unit: Unit) -> Iterator[LiveEvent]:
    """Yields the live events of a committed unit."""
    for statement in unit.statements:
        if statement.table in _READERS:
            live_event = _READERS[statement.table](statement)
            if live_event is not None:
                yield live_event


def _event(statement: Statement) -> LiveEvent | None:
    if not isinstance(statement, Insert):
        return None
    return LiveEvent("event", str(statement.values["event_id"]), "accepted", statement.values, _OF_EVENT)


def _run(statement: Statement) -> LiveEvent | None:
    """Returns the live event of a run that starts or whose status changes."""
    if isinstance(statement, Delete) or "status" not in statement.values:
        return None
    status = str(statement.values["status"])
    if isinstance(statement, Insert):
        return LiveEvent("run", str(statement.values["run_id"]), status, statement.values, _OF_NEW_RUN)
    run_id = _condition_value(statement.where, "run_id")
    return LiveEvent("run", run_id, status, statement.values, _OF_RUN) if run_id else None


def _delivery(statement: Statement) -> LiveEvent | None:
    if isinstance(statement, Delete) or "state" not in statement.values:
        return None
    state = str(statement.values["state"])
    if isinstance(statement, Insert):
        return LiveEvent("delivery", str(statement.values["outbox_id"]), state, statement.values, _OF_NEW_DELIVERY)
    outbox_id = _condition_value(statement.where, "outbox_id")
    return LiveEvent("delivery", outbox_id, state, statement.values, ("reason",)) if outbox_id else None


def _approval(statement: Statement) -> LiveEvent | None:
    if isinstance(statement, Delete) or "status" not in statement.values:
        return None
    status = str(statement.values["status"])
    if isinstance(statement, Insert):
        return LiveEvent("approval", str(statement.values["approval_id"]), status, statement.values, _OF_NEW_APPROVAL)
    approval_id = _condition_value(statement.where, "approval_id")
    return LiveEvent("approval", approval_id, status, statement.values, _OF_APPROVAL) if approval_id else None


def _job(statement: Statement) -> LiveEvent | None:
    """Returns the live event of a job that is queued, changes its state, makes progress or is done."""
    if isinstance(statement, Insert):
        return LiveEvent("job", str(statement.values["job_id"]), "pending", statement.values, _OF_NEW_JOB)
    job_id = _condition_value(statement.where, "job_id")
    if not job_id:
        return None
    if isinstance(statement, Delete):
        return LiveEvent("job", job_id, "done", {})
    if "state" not in statement.values and "stage" not in statement.values:
        return None
    return LiveEvent("job", job_id, str(statement.values.get("state", "running")), statement.values, _OF_JOB)


def _settings(statement: Statement) -> LiveEvent | None:
    """Returns the live event of changed settings, which are stored beside other values of the Host itself."""
    if not isinstance(statement, Insert) or statement.values["name"] != "settings":
        return None
    return LiveEvent("configuration", "settings", "changed", {"what": "settings"}, ("what",))


def _audit(statement: Statement) -> LiveEvent | None:
    if not isinstance(statement, Insert) or statement.values["kind"] != "access":
        return None
    if statement.values["outcome"] != "denied":
        return None
    return LiveEvent("denial", str(statement.values["run_id"]), "denied", statement.values, _OF_DENIAL)


def _configuration_reader(key: str) -> Callable[[Statement], LiveEvent]:
    def read(statement: Statement) -> LiveEvent:
        item_id = (
            str(statement.values[key]) if isinstance(statement, Insert) else _condition_value(statement.where, key)
        )
        state = "deleted" if isinstance(statement, Delete) else "changed"
        return LiveEvent("configuration", item_id, state, {"what": statement.table.name}, ("what",))

    return read


def _condition_value(conditions: tuple[Condition, ...], column: str) -> str:
    for condition in conditions:
        if condition.column == column and condition.operator == "=":
            return str(condition.value)
    return ""


_READERS: dict[Table, Callable[[Statement], LiveEvent | None]] = {
    EVENTS: _event,
    RUNS: _run,
    OUTBOX: _delivery,
    APPROVALS: _approval,
    JOBS: _job,
    META: _settings,
    AUDIT: _audit,
    AGENTS: _configuration_reader("agent_id"),
    BOTS: _configuration_reader("bot_id"),
    ROUTES: _configuration_reader("bot_id"),
    DEFAULT_AGENTS: _configuration_reader("default_id"),
    SCHEDULES: _configuration_reader("schedule_id"),
    MODEL_PROVIDERS: _configuration_reader("provider_id"),
    MODELS: _configuration_reader("model_id"),
    MCP_SERVERS: _configuration_reader("server_id"),
    BUDGETS: _configuration_reader("budget_id"),
    WEBHOOKS: _configuration_reader("webhook_id"),
    KNOWLEDGE_BASES: _configuration_reader("kb_id"),
    KNOWLEDGE_FILES: _configuration_reader("file_id"),
    MEMORIES: _configuration_reader("memory_id"),
    WORD_LISTS: _configuration_reader("list_id"),
    PIPELINES: _configuration_reader("pipeline_id"),
    PLUGIN_CONFIGS: _configuration_reader("plugin_id"),
    SKILLS: _configuration_reader("skill_name"),
}
