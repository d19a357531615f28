"""Audit entries of calls to the Box: who, in which session, what, and with which result."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from parlour.core.access.audit import box_entry
from parlour.core.box.messages import SessionSpec
from parlour.core.journal import Journal, Unit
from parlour.core.model.ports import Clock
from parlour.core.model.providers import CallContext, ProviderFailed

from .workspace_deletion import WorkspaceUses

MAX_COMMAND_CHARACTERS: Final = 4096


class BoxAudit:
    """Writes an entry before the call is answered."""

    def __init__(self, journal: Journal, uses: WorkspaceUses, clock: Clock) -> None:
        self._journal = journal
        self._uses = uses
        self._clock = clock

    def now(self) -> int:
        """Returns the time at which a call starts."""
        return self._clock.now()

    async def record(
        self,
        context: CallContext,
        tool: str,
        parameters: Mapping[str, Any],
        session: SessionSpec,
        started_at: int,
        result: Mapping[str, Any] | ProviderFailed,
    ) -> None:
        failure = result if isinstance(result, ProviderFailed) else None
        detail: dict[str, Any] = {**_subject(parameters), "started_at": started_at, "finished_at": self._clock.now()}
        if isinstance(result, ProviderFailed):
            detail |= {"status": "failed", "error": result.message[:1000]}
        else:
            detail |= {name: result[name] for name in ("status", "reason", "code", "bytes_out") if name in result}
        entry = box_entry(
            context, tool, session.session_id, "failed" if failure else "done", failure.code if failure else "", detail,
            self._clock.now(),
        )  # fmt: skip
        conversation_id = context.conversation_id
        uses = (self._uses.record(conversation_id, session),) if conversation_id else ()
        await self._journal.commit(Unit("box.audit", (entry, *uses)))


def _subject(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what the call is about: the command, or a path with size and digest of what is written."""
    named = {name: str(parameters[name])[:MAX_COMMAND_CHARACTERS] for name in _NAMED if parameters.get(name)}
    content = parameters.get("content")
    if isinstance(content, str):
        data = content.encode(errors="replace")
        named |= {"size": str(len(data)), "sha256": hashlib.sha256(data).hexdigest()}
    return named


_NAMED: Final = ("command", "workdir", "path", "pattern")
