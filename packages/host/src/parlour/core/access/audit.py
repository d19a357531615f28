"""Builds audit entries: calls that were allowed or refused, and changes that people made.

Reading the audit is an ordinary query.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from parlour.core.encoding import dumps
from parlour.core.journal import Insert, Update, where
from parlour.core.model.ids import NO_PLUGIN, NO_RUN, ModelId, PluginId, RunId, RunnerId, RuntimeId
from parlour.core.model.providers import CallContext
from parlour.core.store.tables import AUDIT

DENIAL_COUNT_ACTION = "several actions"
"""Action of an entry that stands for a number of refusals."""
DENIAL_COUNT_CODE = "repeated"
"""Code of an entry that stands for a number of refusals."""


class AuditedCaller(Protocol):
    """Identifies the plugin that made a call, and its runner if the call belongs to a run."""

    @property
    def plugin_id(self) -> PluginId: ...

    @property
    def runner_id(self) -> RunnerId: ...

    @property
    def via(self) -> str: ...


def access_entry(
    caller: AuditedCaller, run_id: RunId, action: str, resource: str, scope: str, outcome: str, code: str, now: int
) -> Insert:
    """Builds the entry that records a plugin's call.

    `run_id` is what the call named; it is the caller's own only if there is a session.
    """
    return _entry(
        now,
        kind="access",
        actor=caller.plugin_id,
        run_id=run_id,
        runner_id=caller.runner_id,
        plugin_id=caller.plugin_id,
        action=action,
        resource=resource,
        scope=scope,
        outcome=outcome,
        code=code,
        detail=dumps({"via": caller.via}) if caller.via else "",
    )


def denial_count_entry(plugin_id: PluginId, counts: Mapping[str, int], now: int) -> Insert:
    """Builds the entry that counts the refusals of one plugin beyond the first ones of a minute."""
    return _entry(
        now,
        kind="access",
        actor=plugin_id,
        plugin_id=plugin_id,
        action=DENIAL_COUNT_ACTION,
        outcome="denied",
        code=DENIAL_COUNT_CODE,
        detail=_count(counts),
    )


def denial_count_update(plugin_id: PluginId, counts: Mapping[str, int], made_at: int) -> Update:
    """Builds the statement that updates the number in an entry of `denial_count_entry`.

    The entry may be gone: retention does not wait for the end of a minute.
    """
    entry = where(created_at=made_at, kind="access", plugin_id=plugin_id, code=DENIAL_COUNT_CODE)
    return Update(AUDIT, {"detail": _count(counts)}, entry, expect=None)


def _count(counts: Mapping[str, int]) -> str:
    return dumps({"count": sum(counts.values()), "actions": dict(counts)})


def budget_refusal_entry(context: CallContext, model_id: ModelId, reason: str, now: int) -> Insert:
    """Builds the entry that records a model call that a budget did not allow."""
    return _entry(
        now,
        kind="access",
        actor=context.plugin_id,
        run_id=context.run_id,
        plugin_id=context.plugin_id,
        action="a model",
        resource=model_id,
        outcome="denied",
        code="budget_exceeded",
        detail=dumps({"reason": reason}),
    )


def change_entry(actor: str, action: str, resource: str, before: Any, after: Any, now: int) -> Insert:
    """Builds the entry that records a change by a user, an API key or the command line.

    The caller masks secrets beforehand.
    """
    detail = dumps({"before": before, "after": after})
    return _entry(now, kind="admin", actor=actor, action=action, resource=resource, outcome="done", detail=detail)


def runtime_entry(
    owner: str, runtime_id: RuntimeId, action: str, outcome: str, now: int, run_id: RunId = NO_RUN
) -> Insert:
    """Builds the entry that records what happened to a remote runtime or to one of its claims.

    `owner` is the plugin of the runtime, or `key:` and the id of the API key of a worker process.
    """
    return _entry(
        now,
        kind="runtime",
        actor=owner,
        plugin_id=NO_PLUGIN if owner.startswith("key:") else PluginId(owner),
        run_id=run_id,
        action=action,
        resource=runtime_id,
        outcome=outcome,
    )


def box_entry(
    context: CallContext, action: str, session_id: str, outcome: str, code: str, detail: Mapping[str, Any], now: int
) -> Insert:
    """Records a call to the Box; `detail` has the command or the path, and the result."""
    return _entry(
        now,
        kind="box",
        actor=f"{context.actor_type}:{context.actor_id}",
        run_id=context.run_id,
        plugin_id=context.plugin_id,
        action=action,
        resource=session_id,
        scope=context.agent_id,
        outcome=outcome,
        code=code,
        detail=dumps(dict(detail)),
    )


def door_entry(
    actor: str, action: str, resource: str, door: str, now: int, run_id: RunId = NO_RUN, outcome: str = "done"
) -> Insert:
    """Builds the entry that records what a client did through a door, or an agent through its gateway."""
    return _entry(
        now,
        kind="door",
        actor=actor,
        action=action,
        resource=resource,
        run_id=run_id,
        outcome=outcome,
        detail=dumps({"via": door}),
    )


def memory_entry(context: CallContext, action: str, memory_id: str, detail: Mapping[str, Any], now: int) -> Insert:
    """Builds the entry for a change of an agent's memory. What is remembered is not part of it."""
    return _entry(
        now,
        kind="memory",
        actor=f"{context.actor_type}:{context.actor_id}",
        run_id=context.run_id,
        plugin_id=context.plugin_id,
        action=action,
        resource=memory_id,
        scope=context.agent_id,
        outcome="done",
        detail=dumps(dict(detail)),
    )


def _entry(now: int, **values: str) -> Insert:
    row: dict[str, str | int] = {
        "workspace_id": "default",
        "run_id": "",
        "runner_id": "",
        "plugin_id": "",
        "resource": "",
        "scope": "",
        "code": "",
        "detail": "",
        **values,
        "created_at": now,
    }
    return Insert(AUDIT, row)
