"""Applies a run's results: each batch is one unit, and only what is committed is shown.

A completed message is one unit with its run events, transcript item and outbox row; a terminal result in the same batch
is part of that unit.
"""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

from parlour.core.delivery.composer import Delivery
from parlour.core.errors import Refused
from parlour.core.journal import GuardFailed, Journal, Statement, StorageFailed, Update
from parlour.core.model.ports import Clock, Ids
from parlour.core.store import ledger, state
from parlour.core.store.artifact_service import Artifacts

from . import deadline
from .action_plan import ActionPlanner
from .attachments import BLANK, Attachments
from .completion import Aftermath, EndingRun, Endings
from .delta_window import DeltaWindow
from .deltas import Deltas
from .output_publisher import Showing
from .result_batch import Step, Writing
from .results import Completed, Created, Delta, Effect, Finish, Ignored, Note, ResultRules, StateWrite
from .run_state import Progress
from .run_warnings import Warnings
from .session import Ending, RunSession

MOST_CHARACTERS = 128 * 1024 * 1024
"""Maximum characters of results that a run may write to the ledger, because an endless run would fill the disk."""
FLOODED = Ending("failed", "runner.error", "the run told more than 128 MiB of results, and was ended")
NO_OUTPUT = Ending("failed", "runner.no_output", "the runner ended without an answer")


class Recorder:
    """Applies the results of one run."""

    def __init__(
        self,
        session: RunSession,
        journal: Journal,
        artifacts: Artifacts,
        delivery: Delivery,
        planner: ActionPlanner,
        endings: Endings,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._planner = planner
        self._session = session
        self._journal = journal
        self._delivery = delivery
        self._endings = endings
        self._clock = clock
        self._warn = Warnings("run", session.run_id).add
        self._rules = ResultRules(session.run_id, self._warn)
        self._attachments = Attachments(artifacts, session, self._warn)
        self._deltas = Deltas()
        self._writing = Writing(session, self._deltas)
        self._window = DeltaWindow(session, journal, self._deltas, self._writing, clock)
        self._showing = Showing(session, delivery, self._deltas, ids)

    @property
    def marked(self) -> dict[int, str]:
        """Digests of results from calls, by sequence number, until they are written with the results."""
        return self._writing.marked

    @property
    def next_result(self) -> int:
        return self._rules.next_number

    def has_taken(self, sequence: int) -> bool:
        return self._rules.has_taken(sequence)

    async def resume(self, progress: Progress) -> None:
        """Continues a run of a previous process of the Host."""
        self._rules.resume(progress.last, progress.missing)
        self._attachments.resume(progress.waiting)
        self._deltas.resume(progress.text)
        await self._showing.resume(progress.messages)

    async def abandon(self) -> None:
        """Stops writing, because another recorder continues the run."""
        await self._window.close()

    async def take(self, batch: list[Any]) -> Aftermath | None:
        """Applies a batch in stream order; returns the completion if the batch ended the run."""
        step = Step(self._session.run_id, self._clock.now())
        for raw in batch:
            ending = await self._apply(step, self._rules.take(raw))
            if ending is not None:
                return await self._end(step, ending)
        if self._writing.characters > MOST_CHARACTERS:
            return await self._end(step, FLOODED)
        await self._progress(step)
        return None

    async def end(self, ending: Ending | None) -> Aftermath:
        """Ends the run, because the Host ended it or the stream ended without a terminal result (None)."""
        step = Step(self._session.run_id, self._clock.now())
        if ending is None:
            await self._complete_leftover(step)
            ending = Ending("completed", "stop") if self._showing.messages else NO_OUTPUT
        return await self._end(step, ending)

    async def _apply(self, step: Step, effect: Effect) -> Ending | None:
        match effect:
            case Delta():
                self._deltas.add(effect.text, effect.sequence)
                self._showing.thoughts(step, effect.reasoning)
            case Completed():
                await self._complete(step, effect)
            case Note(type="action.requested"):
                await self._request(step, effect)
            case Note():
                self._note(step, effect)
            case Created():
                await self._keep_file(step, effect)
            case StateWrite():
                self._write_state(step, effect)
            case Finish():
                return await self._finish(step, effect)
            case Ignored():
                self._warn(effect.warning)
        return None

    async def _complete(self, step: Step, effect: Completed) -> dict[str, Any] | None:
        """Returns the message as it is stored and shown; None if it is blank."""
        carried = await self._attachments.carry(effect.message, effect.text)
        if carried.blank:
            self._warn(BLANK)
            return None
        data = {"message": carried.message}
        self._writing.result(step, "message.completed", data, effect.sequence, carried.refs)
        await self._showing.message(step, carried)
        return carried.message

    async def _complete_leftover(self, step: Step) -> None:
        text = self._deltas.leftover()
        if not text.strip():
            return
        carried = await self._attachments.carry({"role": "assistant", "content": text}, text)
        if not carried.blank:
            self._writing.deltas(step)
            await self._showing.message(step, carried)

    async def _keep_file(self, step: Step, effect: Created) -> None:
        artifact = await self._attachments.created(effect)
        if artifact is None:
            return
        self._writing.result(step, "artifact.created", artifact.told(), effect.sequence, [artifact.ref()])
        if effect.content is not None:
            step.draft.add(artifact.insert())
        self._session.effects = True

    def _note(self, step: Step, effect: Note) -> None:
        self._writing.result(step, effect.type, effect.data, effect.sequence)
        if effect.type == "tool.call.started" and not self._session.calls_over_host(effect.data.get("tool_name", "")):
            self._session.effects = True  # whether the tool only reads is not known here
        if effect.type in ("tool.call.started", "tool.call.completed"):
            status = effect.type.rpartition(".")[2]
            feed, run_id = self._delivery.feed, self._session.run_id
            step.then.append(partial(feed.tool, self._conversation, run_id, effect.data, status, feed.stamp()))
        else:
            self._warn(f"a result has the unknown type '{effect.type[:100]}'; it is recorded and has no effect")

    async def _request(self, step: Step, effect: Note) -> None:
        """Plans a requested action. The action starts with the unit that records it, whatever becomes of the run."""
        self._writing.result(step, effect.type, effect.data, effect.sequence)
        about, data = {"request_id": effect.data.get("request_id")}, effect.data
        try:
            plan = await self._planner.plan(self._session, data["action"], data.get("target"), data.get("payload"))
        except Refused as refusal:
            self._session.meter.note("action.decided", {**about, "status": "refused", "message": refusal.message})
            self._warn(f"result {effect.sequence} (action.requested) is refused: {refusal.message}")
            return
        self._session.meter.note("action.decided", {**about, **plan.told})
        self._session.effects = self._session.effects or plan.acts
        self._session.shown = self._session.shown or plan.approval is not None
        step.draft.add(*plan.statements)
        step.rows += plan.rows
        step.then.append(partial(self._delivery.committed, plan.rows))
        if plan.approval is not None:
            step.then.append(partial(self._planner.asked, plan.approval))

    def _write_state(self, step: Step, effect: StateWrite) -> None:
        scopes = self._session.grant.scopes
        if effect.scope not in scopes:
            self._warn(f"state.updated names the scope '{effect.scope}', which this run was not granted")
            return
        data = {"scope": effect.scope, "key": effect.key, "value": effect.value}
        self._writing.result(step, "state.updated", data, effect.sequence)
        step.draft.add(state.put(scopes, effect.scope, effect.key, effect.value, step.now))
        self._session.effects = True

    async def _finish(self, step: Step, effect: Finish) -> Ending:
        ending = effect.ending
        data = {name: value for name, value in effect.data.items() if name != "message"}
        if ending.status == "completed":
            last = effect.message if not self._showing.messages else None
            if last is not None and (message := await self._complete(step, last)) is not None:
                data["message"] = message
            else:
                await self._complete_leftover(step)
        self._writing.result(step, effect.type, data, effect.sequence)
        if ending.status == "completed" and not self._showing.messages and not ending.silent:
            return NO_OUTPUT
        return replace(ending, silent=False) if ending.silent and self._showing.messages else ending

    async def _progress(self, step: Step) -> None:
        """Commits and publishes a batch that does not end the run."""
        self._showing.growth(step)
        if self._deltas.due:
            self._writing.deltas(step)
        if not step.empty:
            step.draft.replace(0, self._touch(step))
            await self._commit(step)
        for action in step.then:
            action()
        self._window.open()

    def _touch(self, step: Step) -> Update:
        """Builds the update of the run's row, with its usage if that has changed."""
        session = self._session
        usage = session.meter.usage({}) if session.meter.has_notes else None
        self._writing.notes(step)
        return ledger.touch(session.run_id, step.now, shown=session.shown, effects=session.effects, usage=usage)

    async def _end(self, step: Step, ending: Ending) -> Aftermath:
        await self._window.close()
        session = self._session
        async with session.turn:
            self._writing.deltas(step)
            session.meter.cut_off()
            self._writing.notes(step)
            step.draft.name = "run.end"
            ending = deadline.judged(session, ending, step.now)
            aftermath = self._endings.draft(step.draft, self._facts(ending), ending)
            step.rows += aftermath.rows
            await self._commit(step, *session.closing)
            session.ended.set()
        for action in step.then:
            action()
        self._showing.over()
        self._delivery.committed(aftermath.rows)
        self._delivery.run_ended(self._conversation, session.run_id, aftermath.status, aftermath.feed_seq)
        await asyncio.sleep(0)  # lets the answer be sent first
        return aftermath

    async def _commit(self, step: Step, *closing: Statement) -> None:
        audited = self._session.take_audited()
        step.draft.add(*self._session.fence, *closing, *audited)
        try:
            await self._journal.commit(step.draft.unit())
        except (GuardFailed, StorageFailed) as failure:
            self._session.audited[:0] = audited  # the calls were made even if the results are not stored
            self._delivery.abandoned(step.rows, failure)
            raise

    def _facts(self, ending: Ending) -> EndingRun:
        session = self._session
        return EndingRun(
            run_id=session.run_id,
            event=session.event,
            agent=session.binding.agent,
            tries=session.entry.tries,
            shown=session.shown,
            effects=session.effects,
            next_sequence=session.next_sequence,
            usage=session.meter.usage(ending.usage),
            claimed=tuple(session.claimed),
            injected=tuple(session.injected),
            cancel_requested_at=session.cancel_requested_at,
            streaming=self._showing.begun,
            model_failure=session.meter.model_failure,
        )

    @property
    def _conversation(self) -> str:
        return self._session.event.conversation_id
