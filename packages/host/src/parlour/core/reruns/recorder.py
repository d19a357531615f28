"""Records the output and effects of a rerun. Nothing of it is shown, delivered or added to a transcript.

Deltas are written when they fill a row or another result follows; a rerun that is interrupted by a crash of the Host
loses the rest.
"""

from collections.abc import Sequence
from typing import Any

from parlour.core.journal import Journal, UnitBuilder
from parlour.core.model.ports import Clock
from parlour.core.models.reported_usage import ReportedUsage
from parlour.core.runs import deadline
from parlour.core.runs.attachments import EMPTY_MESSAGE_WARNING, MessageWithFiles, RunAttachments
from parlour.core.runs.delta_buffer import DeltaBuffer
from parlour.core.runs.dry_run_state import DryRunState
from parlour.core.runs.results import (
    CompletedMessage,
    Delta,
    Effect,
    FileResult,
    FinalResult,
    GenericResult,
    InvalidResult,
    ResultParser,
    StateWrite,
)
from parlour.core.runs.run_warnings import RunWarnings
from parlour.core.runs.session import RunSession, RunTermination
from parlour.core.store import ledger
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.ledger import RunEnd

from .rehearsals import HookRehearsals

NO_OUTPUT = RunTermination("failed", "runner.no_output", "the runner ended without an answer")


class RerunRecorder:
    """Applies the results of one rerun to the ledger and to its dry-run state."""

    def __init__(
        self,
        session: RunSession,
        dry_run: DryRunState,
        journal: Journal,
        artifacts: ArtifactService,
        rehearsals: HookRehearsals,
        reported_usage: ReportedUsage,
        clock: Clock,
    ) -> None:
        self._session = session
        self._dry_run = dry_run
        self._journal = journal
        self._rehearsals = rehearsals
        self._reported_usage = reported_usage
        self._clock = clock
        self._warn = RunWarnings("rerun", session.run_id).log
        self._parser = ResultParser(session.run_id, self._warn)
        self._attachments = RunAttachments(artifacts, session, self._warn)
        self._deltas = DeltaBuffer()
        self._messages = 0
        self._was_stopped = False

    async def apply(self, batch: list[Any]) -> RunTermination | None:
        draft = self._draft()
        for raw in batch:
            termination = await self._apply(draft, self._parser.parse(raw))
            if termination is not None:
                return await self._end(draft, termination)
        self._deltas.drain_unpublished()
        if self._deltas.is_full:
            self._write_deltas(draft)
        if len(draft) > 1:
            await self._commit(draft)
        return None

    async def finish(self, termination: RunTermination | None) -> RunTermination:
        draft = self._draft()
        if termination is None:
            await self._complete_leftover(draft)
            termination = RunTermination("completed", "stop") if self._messages or self._was_stopped else NO_OUTPUT
        return await self._end(draft, termination)

    async def _apply(self, draft: UnitBuilder, effect: Effect) -> RunTermination | None:
        match effect:
            case Delta():
                self._deltas.add(effect.text, effect.sequence)
            case CompletedMessage():
                await self._complete(draft, effect)
            case GenericResult():
                self._append(draft, effect.type, effect.data, effect.sequence)
            case FileResult():
                await self._keep_file(draft, effect)
            case StateWrite():
                self._write_state(draft, effect)
            case FinalResult():
                return await self._finish(draft, effect)
            case InvalidResult():
                self._warn(effect.warning)
        return None

    async def _complete(self, draft: UnitBuilder, effect: CompletedMessage) -> dict[str, Any] | None:
        shown: dict[str, Any] | None = None
        for message, text in await self._prepared(effect.message, effect.text):
            reply = await self._attachments.attach(message, text)
            if reply.is_blank:
                self._warn(EMPTY_MESSAGE_WARNING)
                continue
            self._append(draft, "message.completed", {"message": reply.message}, effect.sequence, reply.refs)
            self._add_message(draft, reply)
            shown = shown or reply.message
        return shown

    async def _complete_leftover(self, draft: UnitBuilder) -> None:
        text = self._deltas.incomplete_text()
        if not text.strip():
            return
        for message, shown in await self._prepared({"role": "assistant", "content": text}, text):
            reply = await self._attachments.attach(message, shown)
            if not reply.is_blank:
                self._add_message(draft, reply)

    async def _prepared(self, message: dict[str, Any], text: str) -> list[tuple[dict[str, Any], str]]:
        """Returns the messages that plugins make of one; none if they stop it."""
        messages = await self._rehearsals.replies(self._session, message, text)
        if not messages:
            self._was_stopped = True
            self._deltas.message_completed()
        return messages

    def _add_message(self, draft: UnitBuilder, reply: MessageWithFiles) -> None:
        draft.add(*(artifact.insert() for artifact in reply.new_artifacts))
        self._deltas.message_completed()
        self._messages += 1

    async def _keep_file(self, draft: UnitBuilder, effect: FileResult) -> None:
        artifact = await self._attachments.register(effect)
        if artifact is None:
            return
        if effect.content is not None:
            draft.add(artifact.insert())
        self._append(draft, "artifact.created", artifact.to_metadata(), effect.sequence, [artifact.to_ref()])

    def _write_state(self, draft: UnitBuilder, effect: StateWrite) -> None:
        if effect.scope not in self._dry_run.state:
            self._warn(f"state.updated names the scope '{effect.scope}', which this run was not granted")
            return
        self._dry_run.state[effect.scope][effect.key] = effect.value
        data = {"scope": effect.scope, "key": effect.key, "value": effect.value}
        self._append(draft, "state.updated", data, effect.sequence)

    async def _finish(self, draft: UnitBuilder, effect: FinalResult) -> RunTermination:
        data = {name: value for name, value in effect.data.items() if name != "message"}
        if effect.termination.status == "completed":
            last = effect.message if not (self._messages or self._was_stopped) else None
            if last is not None and (message := await self._complete(draft, last)) is not None:
                data["message"] = message
            else:
                await self._complete_leftover(draft)
        self._append(draft, effect.type, data, effect.sequence)
        has_output = self._messages or self._was_stopped or effect.termination.silent
        if effect.termination.status == "completed" and not has_output:
            return NO_OUTPUT
        return effect.termination

    async def _end(self, draft: UnitBuilder, termination: RunTermination) -> RunTermination:
        session = self._session
        termination = deadline.apply_deadline(session, termination, self._clock.now())
        self._write_deltas(draft)
        session.meter.close_open_calls()
        draft.name = "rerun.end"
        end = RunEnd(
            termination.status,
            termination.code,
            termination.error,
            session.meter.usage(termination.usage),
            session.cancel_requested_at,
            effects=session.has_effects,
        )
        draft.replace(0, ledger.end_run(session.run_id, end, self._clock.now()))
        used = session.meter.usage_elsewhere(termination.usage)
        draft.add(*self._reported_usage.charge(session.call_context(session.executor), used))
        await self._commit(draft)
        session.ended.set()
        return termination

    def _draft(self) -> UnitBuilder:
        draft = UnitBuilder("rerun.progress")
        draft.add(ledger.update_progress(self._session.run_id, self._clock.now()))
        return draft

    async def _commit(self, draft: UnitBuilder) -> None:
        session, now = self._session, self._clock.now()
        for type, data in session.meter.drain_events():
            draft.add(ledger.append_event(session.run_id, session.next_sequence(), type, data, now, source="host"))
        draft.add(*session.drain_audit_rows())
        await self._journal.commit(draft.build())

    def _append(self, draft: UnitBuilder, type: str, data: Any, sequence: int, refs: Sequence[Any] = ()) -> None:
        self._write_deltas(draft)
        run_id, number, now = self._session.run_id, self._session.next_sequence(), self._clock.now()
        draft.add(
            ledger.append_event(run_id, number, type, data, now, first=sequence, last=sequence, artifact_refs=refs),
        )

    def _write_deltas(self, draft: UnitBuilder) -> None:
        if not self._deltas.has_unwritten:
            return
        text, first, last = self._deltas.drain_unwritten()
        chunk = {"chunk": {"role": "assistant", "content": text}}
        run_id, number, now = self._session.run_id, self._session.next_sequence(), self._clock.now()
        draft.add(ledger.append_event(run_id, number, "message.delta", chunk, now, first=first, last=last))
