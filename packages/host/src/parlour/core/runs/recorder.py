"""Applies a run's results: each batch is one unit, and only what is committed is shown.

A completed message is one unit with its run events, transcript item and outbox row; a terminal result in the same batch
is part of that unit.
"""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

from parlour.core.delivery.targets import PLATFORM
from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Journal, Statement, StorageFailed, Update
from parlour.core.message_policy.checks import FilterSubject, verdict_sentence
from parlour.core.message_policy.filters import Verdicts
from parlour.core.message_policy.outputs import OutputRules
from parlour.core.model.ports import Clock
from parlour.core.store import event_notes, ledger, state
from parlour.core.store.artifact_service import ArtifactService

from . import deadline
from .action_plan import ActionPlanner
from .attachments import EMPTY_MESSAGE_WARNING, MessageWithFiles, RunAttachments
from .completion import EndedRun, RunCompleter, RunCompletion, is_retried
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
STOPPED_BY_PLUGIN = RunTermination("completed", "plugin_stopped_reply", silent=True)
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
        self._parser = ResultParser(session.run_id, self._warn)
        self._attachments = RunAttachments(artifacts, session, self._warn)
        self._deltas = publisher.deltas
        self._event_writer = RunEventWriter(session, self._deltas)
        self._delta_flusher = DeltaFlusher(session, journal, self._deltas, self._event_writer, clock)

    @property
    def pending_digests(self) -> dict[int, str]:
        """Digests of results from calls, by sequence number, until they are written with the results."""
        return self._event_writer.pending_digests

    @property
    def next_result_sequence(self) -> int:
        return self._parser.next_sequence

    def has_applied(self, sequence: int) -> bool:
        return self._parser.has_parsed(sequence)

    async def resume(self, progress: RunProgress) -> None:
        """Continues a run of a previous process of the Host."""
        self._parser.resume(progress.last, progress.missing)
        self._attachments.resume(progress.pending_files)
        self._deltas.resume(progress.text)
        await self._publisher.resume(progress.messages)

    async def abandon(self) -> None:
        """Stops writing, because another recorder continues the run."""
        await self._delta_flusher.close()

    async def apply(self, batch: list[Any]) -> RunCompletion | None:
        """Applies a batch in stream order; returns the completion if the batch ended the run."""
        result_batch = ResultBatch(self._session.run_id, self._clock.now())
        for raw in batch:
            termination = await self._apply(result_batch, self._parser.parse(raw))
            if termination is not None:
                return await self._commit_end(result_batch, termination)
        if self._event_writer.characters > MAX_OUTPUT_CHARACTERS:
            return await self._commit_end(result_batch, OUTPUT_LIMIT_EXCEEDED)
        await self._progress(result_batch)
        return None

    async def finish(self, termination: RunTermination | None) -> RunCompletion:
        """Ends the run, because the Host ended it or the stream ended without a terminal result (None)."""
        result_batch = ResultBatch(self._session.run_id, self._clock.now())
        if termination is None:
            await self._complete_leftover(result_batch)
            termination = self._end_of_stream()
        return await self._commit_end(result_batch, termination)

    def _end_of_stream(self) -> RunTermination:
        """Returns the end of a run whose runner did not say how it ended."""
        if self._publisher.message_count:
            return RunTermination("completed", "stop")
        return STOPPED_BY_PLUGIN if self._publisher.was_stopped else NO_OUTPUT

    async def _apply(self, result_batch: ResultBatch, effect: Effect) -> RunTermination | None:
        match effect:
            case Delta():
                self._deltas.add(effect.text, effect.sequence)
                self._publisher.publish_reasoning(result_batch, effect.reasoning)
            case CompletedMessage():
                await self._complete(result_batch, effect)
            case GenericResult(type="action.requested"):
                await self._apply_action_request(result_batch, effect)
            case GenericResult():
                self._apply_generic(result_batch, effect)
            case FileResult():
                await self._keep_file(result_batch, effect)
            case StateWrite():
                self._write_state(result_batch, effect)
            case FinalResult():
                return await self._apply_finish(result_batch, effect)
            case InvalidResult():
                self._warn(effect.warning)
        return None

    async def _complete(self, result_batch: ResultBatch, effect: CompletedMessage) -> dict[str, Any] | None:
        """Returns the message as it is stored and shown; None if it is blank or a plugin stopped it."""
        shown: dict[str, Any] | None = None
        messages = await self._publisher.prepare(effect.message, effect.text)
        if not messages:
            self._attachments.discard_pending()
            self._deltas.message_completed()
        for message, text in messages:
            reply = await self._attach(result_batch, message, text)
            if reply.is_blank:
                self._warn(EMPTY_MESSAGE_WARNING)
                continue
            data = {"message": reply.message}
            self._event_writer.add_result(result_batch, "message.completed", data, effect.sequence, reply.refs)
            await self._publisher.publish_message(result_batch, reply)
            shown = shown or reply.message
        return shown

    async def _check(
        self, result_batch: ResultBatch, rules: OutputRules, message: dict[str, Any], text: str
    ) -> Verdicts:
        """Returns the verdicts of models and plugins about a message, after noting them on the trail."""
        session = self._session
        subject = FilterSubject(session.event, session.binding, "output", session.run_id)
        verdicts = await rules.check(message, text, subject)
        if verdicts:
            session.meter.add_host_calls(each.call for each in verdicts.values())
            notes = rules.verdict_notes(verdicts)
            data = {"text": verdict_sentence(notes), "code": "policy_checked_output", "checks": notes}
            note = event_notes.add_note(session.event.seq, "policy.output_checks", data, result_batch.now)
            result_batch.draft.add(note)
        return verdicts

    async def _attach(self, result_batch: ResultBatch, message: dict[str, Any], text: str) -> MessageWithFiles:
        """Returns the message as the message policy lets it be shown, with its files."""
        rules = self._publisher.rules
        if rules is None:
            return await self._attachments.attach(message, text)
        filtered = rules.filter(message, text, await self._check(result_batch, rules, message, text))
        if filtered.hits:
            self._publisher.note_filtered(result_batch, filtered)
        if filtered.is_withheld:
            self._attachments.discard_pending()
        form = self._publisher.long_text_form()
        reply = await self._attachments.attach(filtered.message, filtered.text, form)
        if reply.long_text_sent_as:
            data = {
                "text": f"The reply was long, so it was sent as {reply.long_text_sent_as}.",
                "code": "policy_long_text",
                "shape": reply.long_text_sent_as,
            }
            note = event_notes.add_note(self._session.event.seq, "policy.long_text", data, result_batch.now)
            result_batch.draft.add(note)
        return reply

    async def _complete_leftover(self, result_batch: ResultBatch) -> None:
        text = self._deltas.incomplete_text()
        if not text.strip():
            return
        for message, shown in await self._publisher.prepare({"role": "assistant", "content": text}, text):
            reply = await self._attach(result_batch, message, shown)
            if not reply.is_blank:
                self._event_writer.add_deltas(result_batch)
                await self._publisher.publish_message(result_batch, reply)

    async def _keep_file(self, result_batch: ResultBatch, effect: FileResult) -> None:
        artifact = await self._attachments.register(effect)
        if artifact is None:
            return
        self._event_writer.add_result(
            result_batch, "artifact.created", artifact.to_metadata(), effect.sequence, [artifact.to_ref()]
        )
        if effect.content is not None:
            result_batch.draft.add(artifact.insert())
        self._session.has_effects = True

    def _apply_generic(self, result_batch: ResultBatch, effect: GenericResult) -> None:
        self._event_writer.add_result(result_batch, effect.type, effect.data, effect.sequence)
        session, tool = self._session, effect.data.get("tool_name", "")
        if effect.type == "tool.call.started" and not session.identity.calls_over_host(tool):
            session.has_effects = True  # whether the tool only reads is not known here
        if effect.type == "tool.call.started" and self._publisher.rules is not None:
            note = self._publisher.rules.tool_note(effect.data) if session.event.envelope.surface == PLATFORM else ""
            if note:
                self._publisher.publish_note(result_batch, note)
        if effect.type in ("tool.call.started", "tool.call.completed"):
            self._publisher.publish_tool_call(result_batch, effect.data, effect.type.rpartition(".")[2])
        else:
            self._warn(f"a result has the unknown type '{effect.type[:100]}'; it is recorded and has no effect")

    async def _apply_action_request(self, result_batch: ResultBatch, effect: GenericResult) -> None:
        """Plans a requested action. The action starts with the unit that records it, even if the run fails later."""
        self._event_writer.add_result(result_batch, effect.type, effect.data, effect.sequence)
        request_fields, data = {"request_id": effect.data.get("request_id")}, effect.data
        try:
            plan = await self._planner.plan(self._session, data["action"], data.get("target"), data.get("payload"))
        except CallRejected as refusal:
            self._session.meter.record_event(
                "action.decided", {**request_fields, "status": "refused", "message": refusal.message}
            )
            self._warn(f"result {effect.sequence} (action.requested) is refused: {refusal.message}")
            return
        self._session.meter.record_event("action.decided", {**request_fields, **plan.ledger_data})
        self._session.has_effects = self._session.has_effects or plan.has_effect
        self._session.has_output = self._session.has_output or plan.approval is not None
        result_batch.draft.add(*plan.statements)
        self._publisher.publish_rows(result_batch, plan.rows)
        if plan.approval is not None:
            result_batch.after_commit.append(partial(self._planner.on_approval_committed, plan.approval))

    def _write_state(self, result_batch: ResultBatch, effect: StateWrite) -> None:
        scopes = self._session.grant.scopes
        if effect.scope not in scopes:
            self._warn(f"state.updated names the scope '{effect.scope}', which this run was not granted")
            return
        data = {"scope": effect.scope, "key": effect.key, "value": effect.value}
        self._event_writer.add_result(result_batch, "state.updated", data, effect.sequence)
        result_batch.draft.add(state.put(scopes, effect.scope, effect.key, effect.value, result_batch.now))
        self._session.has_effects = True

    async def _apply_finish(self, result_batch: ResultBatch, effect: FinalResult) -> RunTermination:
        termination = effect.termination
        data = {name: value for name, value in effect.data.items() if name != "message"}
        if termination.status == "completed":
            last = effect.message if not (self._publisher.message_count or self._publisher.was_stopped) else None
            if last is not None and (message := await self._complete(result_batch, last)) is not None:
                data["message"] = message
            else:
                await self._complete_leftover(result_batch)
        elif self._session.created_files:  # the run failed after a tool had created files for the person
            reply = await self._attachments.attach({"role": "assistant", "content": ""}, "")
            await self._publisher.publish_message(result_batch, reply)
        self._event_writer.add_result(result_batch, effect.type, data, effect.sequence)
        if termination.status == "completed" and not self._publisher.message_count and not termination.silent:
            return self._end_of_stream()
        return (
            replace(termination, silent=False) if termination.silent and self._publisher.message_count else termination
        )

    async def _progress(self, result_batch: ResultBatch) -> None:
        """Commits and publishes a batch that does not end the run."""
        self._publisher.publish_deltas(result_batch)
        if self._deltas.is_full:
            self._event_writer.add_deltas(result_batch)
        if not result_batch.is_empty:
            result_batch.draft.replace(0, self._progress_update(result_batch))
            await self._commit(result_batch)
        for action in result_batch.after_commit:
            action()
        self._delta_flusher.schedule()

    def _progress_update(self, result_batch: ResultBatch) -> Update:
        """Builds the update of the run's row, with its usage if that has changed."""
        session = self._session
        usage = session.meter.usage({}) if session.meter.has_events else None
        self._event_writer.add_host_events(result_batch)
        return ledger.update_progress(
            session.run_id,
            result_batch.now,
            has_output=session.has_output,
            has_effects=session.has_effects,
            usage=usage,
        )

    async def _commit_end(self, result_batch: ResultBatch, termination: RunTermination) -> RunCompletion:
        await self._delta_flusher.close()
        session = self._session
        async with session.commit_lock:
            self._event_writer.add_deltas(result_batch)
            session.meter.close_open_calls()
            self._event_writer.add_host_events(result_batch)
            termination = deadline.apply_deadline(session, termination, result_batch.now)
            if termination.status != "completed":
                self._publisher.show_rest(result_batch, is_retried(self._ended_run(termination), termination))
                shown = self._publisher.shown_text()
                self._completer.keep_interrupted(result_batch.draft, session.event, session.run_id, shown)
            result_batch.draft.name = "run.end"
            completion = self._completer.add_completion(result_batch.draft, self._ended_run(termination), termination)
            result_batch.rows += completion.rows
            await self._commit(result_batch, *(session.remote.final_statements if session.remote is not None else ()))
            session.ended.set()
        for action in result_batch.after_commit:
            action()
        self._publisher.close(completion)
        await asyncio.sleep(0)  # lets the answer be sent first
        return completion

    async def _commit(self, result_batch: ResultBatch, *final_statements: Statement) -> None:
        audit_rows = self._session.drain_audit_rows()
        remote = self._session.remote
        result_batch.draft.add(*(remote.write_guards if remote is not None else ()), *final_statements, *audit_rows)
        try:
            await self._journal.commit(result_batch.draft.build())
        except (GuardFailed, StorageFailed) as failure:
            self._session.audit_rows[:0] = audit_rows  # the calls were made even if the results are not stored
            self._publisher.discard(result_batch, failure)
            raise

    def _ended_run(self, termination: RunTermination) -> EndedRun:
        session = self._session
        return EndedRun(
            run_id=session.run_id,
            event=session.event,
            agent=session.binding.agent,
            tries=session.entry.tries,
            has_output=session.has_output,
            has_effects=session.has_effects,
            next_sequence=session.next_sequence,
            usage=session.meter.usage(termination.usage),
            claimed=tuple(session.claimed),
            injected=tuple(session.injected),
            cancel_requested_at=session.cancel_requested_at,
            variables=session.entry.variables,
            streaming=self._publisher.is_streaming,
            model_failure=session.meter.model_failure,
            usage_elsewhere=session.meter.usage_elsewhere(termination.usage),
            call_context=session.call_context(session.executor),
        )
