"""Actions by which plugins create, read and control runs, and append results to the runs that they execute."""

from typing import Any

from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Row, where
from parlour.core.model.ids import RunId
from parlour.core.pagination import Cursors, InvalidCursor
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.control import ADMIN, RunControl
from parlour.core.runs.run_creation import RunCreator
from parlour.core.runs.run_requests import RunRequestBuilder
from parlour.core.runs.session import RunTermination
from parlour.core.store.ledger import Ledger
from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.runs import (
    AgentRun,
    AgentRunEvent,
    RunAppendResult,
    RunCancel,
    RunCreate,
    RunEventsPage,
    RunEventsPageGet,
    RunFinalize,
    RunGet,
    RunList,
    RunPage,
    RunRetry,
)

from .handlers import Handler

MAX_ERROR_CHARACTERS = 2000
"""Maximum number of characters of an error message or reason that is stored."""
DEFAULT_END_CODES = {
    "completed": "stop",
    "failed": "runner.error",
    "cancelled": "cancelled",
    "timeout": "runner.timeout",
}
"""Code for each final status if the plugin names none."""


class RunActions:
    def __init__(
        self,
        journal: Journal,
        control: RunControl,
        creator: RunCreator,
        request_builder: RunRequestBuilder,
        cursors: Cursors,
    ) -> None:
        self._ledger = Ledger(journal)
        self._control = control
        self._creator = creator
        self._request_builder = request_builder
        self._cursors = cursors

    def handlers(self) -> dict[str, Handler]:
        return {
            "run_create": self.create,
            "run_get": self.get,
            "run_list": self.list,
            "run_events_page": self.events,
            "run_cancel": self.cancel,
            "run_append_result": self.append,
            "run_finalize": self.finalize,
            "run_retry": self.retry,
        }

    async def create(self, caller: ActionCaller, request: RunCreate) -> AgentRun:
        return to_agent_run(await self._creator.create(caller, await self._request_builder.build(caller, request)))

    async def get(self, caller: ActionCaller, request: RunGet) -> AgentRun:
        return to_agent_run(await self._control.get_visible(caller, RunId(request.target_run_id)))

    async def list(self, caller: ActionCaller, request: RunList) -> RunPage:
        """Lists the runs of the caller's own plugin and those it created, or all runs if it may administer them."""
        filters = request.model_dump(include={"status", "agent_id", "runner_id", "conversation_id"}, exclude_none=True)
        is_admin = caller.grant.has(ADMIN)
        listing = f"runs:{sorted(filters.items())}:{'' if is_admin else caller.plugin_id}"
        position = self._position(listing, request.cursor)
        own_filters = [{"plugin_id": caller.plugin_id}, {"created_by": caller.plugin_id}]
        rows_by_id: dict[str, Row] = {}
        for owner_filter in [{}] if is_admin else own_filters:
            matching_rows = await self._ledger.page(where(**filters, **owner_filter), position, request.limit + 1)
            rows_by_id.update({row["run_id"]: row for row in matching_rows})
        rows = sorted(rows_by_id.values(), key=lambda row: str(row["run_id"]), reverse=True)
        has_more = len(rows) > request.limit
        page = rows[: request.limit]
        cursor = self._cursors.encode(listing, page[-1]["run_id"]) if has_more else None
        return RunPage(items=[to_agent_run(row) for row in page], next_cursor=cursor, has_more=has_more)

    async def events(self, caller: ActionCaller, request: RunEventsPageGet) -> RunEventsPage:
        await self._control.get_visible(caller, RunId(request.target_run_id))
        rows = await self._ledger.events(RunId(request.target_run_id), request.after_sequence, request.limit + 1)
        page = [_event(row) for row in rows[: request.limit]]
        return RunEventsPage(items=page, has_more=len(rows) > request.limit)

    async def cancel(self, caller: ActionCaller, request: RunCancel) -> AgentRun:
        run = await self._control.get_visible(caller, RunId(request.target_run_id))
        reason = request.reason or f"plugin {caller.plugin_id} cancelled the run"
        termination = RunTermination("cancelled", "cancelled", reason[:MAX_ERROR_CHARACTERS])
        if not await self._control.cancel(run["run_id"], termination):
            raise CallRejected("invalid_argument", f"the run is over: its status is {run['status']}")
        return await self._reload(run["run_id"])

    async def retry(self, caller: ActionCaller, request: RunRetry) -> AgentRun:
        run = await self._control.get_visible(caller, RunId(request.target_run_id))
        if not run["finished_at"]:
            raise CallRejected(
                "invalid_argument", f"the run is not over: its status is {run['status']}; cancel it first"
            )
        return to_agent_run(await self._creator.retry(run))

    async def append(self, caller: ActionCaller, request: RunAppendResult) -> Done:
        await self._control.append(caller, RunId(request.target_run_id), request.result, request.lease)
        return Done()

    async def finalize(self, caller: ActionCaller, request: RunFinalize) -> AgentRun:
        code, error = request.code or DEFAULT_END_CODES[request.status], (request.error or "")[:MAX_ERROR_CHARACTERS]
        await self._control.finalize(
            caller, RunId(request.target_run_id), RunTermination(request.status, code, error), request.lease
        )
        return await self._reload(RunId(request.target_run_id))

    async def _reload(self, run_id: RunId) -> AgentRun:
        run = await self._ledger.get_run(run_id)
        assert run is not None
        return to_agent_run(run)

    def _position(self, listing: str, cursor: str | None) -> str:
        try:
            return str(self._cursors.decode(listing, cursor)) if cursor is not None else ""
        except InvalidCursor as error:
            raise CallRejected("invalid_argument", f"cursor: {error}") from error


def to_agent_run(row: Row) -> AgentRun:
    """Converts a ledger row to the protocol's AgentRun. Empty fields become null."""
    optional = [
        "agent_id",
        "binding_id",
        "conversation_id",
        "thread_id",
        "workspace_id",
        "bot_id",
        "status_reason",
        "started_at",
        "finished_at",
        "deadline_at",
        "cancel_requested_at",
        "parent_run_id",
        "claimed_by",
        "lease_until",
    ]
    fields: dict[str, Any] = {name: row[name] or None for name in optional}
    plain = ("run_id", "event_id", "runner_id", "plugin_id", "status", "created_at", "updated_at", "attempt")
    fields |= {name: row[name] for name in plain}
    fields |= {"usage": loads(row["usage"]), "authorization": loads(row["snapshot"])}
    return AgentRun.model_validate({**fields, "metadata": loads(row["metadata"])})


def _event(row: Row) -> AgentRunEvent:
    plain = {name: row[name] for name in ("run_id", "sequence", "type", "source", "created_at")}
    parsed = {name: loads(row[name]) for name in ("data", "artifact_refs", "metadata")}
    return AgentRunEvent.model_validate({**plain, **parsed, "last_sequence": row["last_sequence"] or None})
