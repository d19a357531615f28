"""Applies a run's results: each batch is one unit, and only what is committed is shown.

A completed message is one unit with its run events, transcript item and outbox row; a terminal result in the same batch
is part of that unit.
"""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Journal, Statement, StorageFailed, Update
from parlour.core.model.ports import Clock
from parlour.core.store import ledger, state
from parlour.core.store.artifact_service import ArtifactService

from . import deadline
from .action_plan import ActionPlanner
from .attachments import EMPTY_MESSAGE_WARNING, RunAttachments
from .completion import EndedRun, RunCompleter, RunCompletion
from .output_publisher import OutputPublisher
from .result_batch import DeltaFlusher, ResultBatch, RunEventWriter
from .results import (
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
from .run_state import RunProgress
from .run_warnings import RunWarnings
from .session import RunSession, RunTermination

MAX_OUTPUT_CHARACTERS = 128 * 1024 * 1024
"""Maximum characters of results that a run may write to the ledger, because an endless run would fill the disk."""
OUTPUT_LIMIT_EXCEEDED = RunTermination(
    "failed", "runner.error", "the run told more than 128 MiB of results, and was ended"
)
NO_OUTPUT = RunTermination("failed", "runner.no_output", "the runner ended without an answer")


class Recorder:
    """Applies the results of one run."""

    def __init__(
        self,
        session: RunSession,
        journal: Journal,
        artifacts: ArtifactService,
        publisher: OutputPublisher,
        planner: ActionPlanner,
        completer: RunCompleter,
        clock: Clock,
    ) -> None:
        self._session = session
        self._journal = journal
        self._publisher = publisher
        self._planner = planner
        self._completer = completer
        self._clock = clock
        self._warn = RunWarnings("run", session.run_id).log
        self._rules = ResultParser(session.run_id, self._warn)
        self._attachments = RunAttachments(artifacts, session, self._warn)
        self._deltas = publisher.deltas
        self._event_writer = RunEventWriter(session, self._deltas)
        self._window = DeltaFlusher(session, journal, self._deltas, self._event_writer, clock)

    @property
    def pending_digests(self) -> dict[int, str]:
        """Digests of results from calls, by sequence number, until they are written with the results."""
        return self._event_writer.pending_digests

    @property
    def next_result_sequence(self) -> int:
        return self._rules.next_sequence

    def has_applied(self, sequence: int) -> bool:
        return self._rules.has_parsed(sequence)

    async def resume(self, progress: RunProgress) -> None:
        """Continues a run of a previous process of the Host."""
        self._rules.resume(progress.last, progress.missing)
        self._attachments.resume(progress.pending_files)
        self._deltas.resume(progress.text)
        await self._publisher.resume(progress.messages)

    async def abandon(self) -> None:
        """Stops writing, because another recorder continues the run."""
        await self._window.close()

    async def apply(self, batch: list[Any]) -> RunCompletion | None:
        """Applies a batch in stream order; returns the completion if the batch ended the run."""
        step = ResultBatch(self._session.run_id, self._clock.now())
        for raw in batch:
            ending = await self._apply(step, self._rules.parse(raw))
            if ending is not None:
                return await self._commit_end(step, ending)
        if self._event_writer.characters > MAX_OUTPUT_CHARACTERS:
            return await self._commit_end(step, OUTPUT_LIMIT_EXCEEDED)
        await self._progress(step)
        return None

    async def finish(self, ending: RunTermination | None) -> RunCompletion:
        """Ends the run, because the Host ended it or the stream ended without a terminal result (None)."""
        step = ResultBatch(self._session.run_id, self._clock.now())
        if ending is None:
            await self._complete_leftover(step)
            ending = RunTermination("completed", "stop") if self._publisher.message_count else NO_OUTPUT
        return await self._commit_end(step, ending)

    async def _apply(self, step: ResultBatch, effect: Effect) -> RunTermination | None:
        match effect:
            case Delta():
                self._deltas.add(effect.text, effect.sequence)
                self._publisher.publish_reasoning(step, effect.reasoning)
            case CompletedMessage():
                await self._complete(step, effect)
            case GenericResult(type="action.requested"):
                await self._apply_action_request(step, effect)
            case GenericResult():
                self._apply_generic(step, effect)
            case FileResult():
                await self._keep_file(step, effect)
            case StateWrite():
                self._write_state(step, effect)
            case FinalResult():
                return await self._apply_finish(step, effect)
            case InvalidResult():
                self._warn(effect.warning)
        return None

    async def _complete(self, step: ResultBatch, effect: CompletedMessage) -> dict[str, Any] | None:
        """Returns the message as it is stored and shown; None if it is blank."""
        carried = await self._attachments.attach(effect.message, effect.text)
        if carried.is_blank:
            self._warn(EMPTY_MESSAGE_WARNING)
            return None
        data = {"message": carried.message}
        self._event_writer.add_result(step, "message.completed", data, effect.sequence, carried.refs)
        await self._publisher.publish_message(step, carried)
        return carried.message

    async def _complete_leftover(self, step: ResultBatch) -> None:
        text = self._deltas.incomplete_text()
        if not text.strip():
            return
        carried = await self._attachments.attach({"role": "assistant", "content": text}, text)
        if not carried.is_blank:
            self._event_writer.add_deltas(step)
            await self._publisher.publish_message(step, carried)

    async def _keep_file(self, step: ResultBatch, effect: FileResult) -> None:
        artifact = await self._attachments.register(effect)
        if artifact is None:
            return
        self._event_writer.add_result(
            step, "artifact.created", artifact.to_metadata(), effect.sequence, [artifact.to_ref()]
        )
        if effect.content is not None:
            step.draft.add(artifact.insert())
        self._session.has_effects = True

    def _apply_generic(self, step: ResultBatch, effect: GenericResult) -> None:
        self._event_writer.add_result(step, effect.type, effect.data, effect.sequence)
        session, tool = self._session, effect.data.get("tool_name", "")
        if effect.type == "tool.call.started" and not session.identity.calls_over_host(tool):
            session.has_effects = True  # whether the tool only reads is not known here
        if effect.type in ("tool.call.started", "tool.call.completed"):
            self._publisher.publish_tool_call(step, effect.data, effect.type.rpartition(".")[2])
        else:
            self._warn(f"a result has the unknown type '{effect.type[:100]}'; it is recorded and has no effect")

    async def _apply_action_request(self, step: ResultBatch, effect: GenericResult) -> None:
        """Plans a requested action. The action starts with the unit that records it, whatever becomes of the run."""
        self._event_writer.add_result(step, effect.type, effect.data, effect.sequence)
        about, data = {"request_id": effect.data.get("request_id")}, effect.data
        try:
            plan = await self._planner.plan(self._session, data["action"], data.get("target"), data.get("payload"))
        except CallRejected as refusal:
            self._session.meter.record_event(
                "action.decided", {**about, "status": "refused", "message": refusal.message}
            )
            self._warn(f"result {effect.sequence} (action.requested) is refused: {refusal.message}")
            return
        self._session.meter.record_event("action.decided", {**about, **plan.ledger_data})
        self._session.has_effects = self._session.has_effects or plan.has_effect
        self._session.has_output = self._session.has_output or plan.approval is not None
        step.draft.add(*plan.statements)
        self._publisher.publish_rows(step, plan.rows)
        if plan.approval is not None:
            step.after_commit.append(partial(self._planner.on_approval_committed, plan.approval))

    def _write_state(self, step: ResultBatch, effect: StateWrite) -> None:
        scopes = self._session.grant.scopes
        if effect.scope not in scopes:
            self._warn(f"state.updated names the scope '{effect.scope}', which this run was not granted")
            return
        data = {"scope": effect.scope, "key": effect.key, "value": effect.value}
        self._event_writer.add_result(step, "state.updated", data, effect.sequence)
        step.draft.add(state.put(scopes, effect.scope, effect.key, effect.value, step.now))
        self._session.has_effects = True

    async def _apply_finish(self, step: ResultBatch, effect: FinalResult) -> RunTermination:
        ending = effect.ending
        data = {name: value for name, value in effect.data.items() if name != "message"}
        if ending.status == "completed":
            last = effect.message if not self._publisher.message_count else None
            if last is not None and (message := await self._complete(step, last)) is not None:
                data["message"] = message
            else:
                await self._complete_leftover(step)
        self._event_writer.add_result(step, effect.type, data, effect.sequence)
        if ending.status == "completed" and not self._publisher.message_count and not ending.silent:
            return NO_OUTPUT
        return replace(ending, silent=False) if ending.silent and self._publisher.message_count else ending

    async def _progress(self, step: ResultBatch) -> None:
        """Commits and publishes a batch that does not end the run."""
        self._publisher.publish_deltas(step)
        if self._deltas.is_full:
            self._event_writer.add_deltas(step)
        if not step.is_empty:
            step.draft.replace(0, self._progress_update(step))
            await self._commit(step)
        for action in step.after_commit:
            action()
        self._window.schedule()

    def _progress_update(self, step: ResultBatch) -> Update:
        """Builds the update of the run's row, with its usage if that has changed."""
        session = self._session
        usage = session.meter.usage({}) if session.meter.has_events else None
        self._event_writer.add_host_events(step)
        return ledger.update_progress(
            session.run_id, step.now, shown=session.has_output, effects=session.has_effects, usage=usage
        )

    async def _commit_end(self, step: ResultBatch, ending: RunTermination) -> RunCompletion:
        await self._window.close()
        session = self._session
        async with session.commit_lock:
            self._event_writer.add_deltas(step)
            session.meter.close_open_calls()
            self._event_writer.add_host_events(step)
            step.draft.name = "run.end"
            ending = deadline.apply_deadline(session, ending, step.now)
            aftermath = self._completer.add_completion(step.draft, self._facts(ending), ending)
            step.rows += aftermath.rows
            await self._commit(step, *(session.remote.final_statements if session.remote is not None else ()))
            session.ended.set()
        for action in step.after_commit:
            action()
        self._publisher.close(aftermath)
        await asyncio.sleep(0)  # lets the answer be sent first
        return aftermath

    async def _commit(self, step: ResultBatch, *closing: Statement) -> None:
        audited = self._session.drain_audit_rows()
        remote = self._session.remote
        step.draft.add(*(remote.write_guards if remote is not None else ()), *closing, *audited)
        try:
            await self._journal.commit(step.draft.build())
        except (GuardFailed, StorageFailed) as failure:
            self._session.audit_rows[:0] = audited  # the calls were made even if the results are not stored
            self._publisher.discard(step, failure)
            raise

    def _facts(self, ending: RunTermination) -> EndedRun:
        session = self._session
        return EndedRun(
            run_id=session.run_id,
            event=session.event,
            agent=session.binding.agent,
            tries=session.entry.tries,
            has_output=session.has_output,
            has_effects=session.has_effects,
            next_sequence=session.next_sequence,
            usage=session.meter.usage(ending.usage),
            claimed=tuple(session.claimed),
            injected=tuple(session.injected),
            cancel_requested_at=session.cancel_requested_at,
            streaming=self._publisher.is_streaming,
            model_failure=session.meter.model_failure,
        )
