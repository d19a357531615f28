"""Applies a run's results: each batch is one unit, and only what is durable is shown.

A completed message is one transaction with its run events, transcript item and outbox row; a terminal result in the
same batch joins it. A message that is shown while it grows has its row, `streaming`, before its first fragment.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from parlour.core.access.refusal import Refused
from parlour.core.approvals.planning import Planner
from parlour.core.delivery.delivery import Delivery, Fragment
from parlour.core.delivery.policy import DeliveryPolicy
from parlour.core.facts import ledger, outgoing, state, transcript
from parlour.core.facts.keeping import Artifacts
from parlour.core.facts.outgoing import Outgoing
from parlour.core.journal import Draft, GuardFailed, Journal, Statement, StorageFailed, Update
from parlour.core.ports import Clock, Ids

from . import deadlines
from .attachments import Attachments, Carried
from .deltas import WINDOW_SECONDS, Deltas
from .ending import Aftermath, EndingRun, Endings
from .progress import Progress
from .results import Completed, Created, Delta, Effect, Finish, Ignored, Note, ResultRules, StateWrite
from .session import Ending, RunSession

logger = logging.getLogger(__name__)

WARNINGS_PER_RUN = 20
NO_OUTPUT = Ending("failed", "runner.no_output", "the runner ended without an answer")


class Step:
    """A unit in the making, and what is done once it is durable."""

    def __init__(self, run_id: str, now: int) -> None:
        self.draft = Draft("run.progress")
        self.draft.add(ledger.touch(run_id, now))
        self.rows: list[Outgoing] = []
        self.then: list[Callable[[], None]] = []
        self.now = now

    @property
    def empty(self) -> bool:
        return len(self.draft) == 1


class Recorder:
    def __init__(
        self,
        session: RunSession,
        journal: Journal,
        artifacts: Artifacts,
        delivery: Delivery,
        planner: Planner,
        endings: Endings,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._planner = planner
        self._session = session
        self._journal = journal
        self._delivery = delivery
        self._endings = endings
        self._ids = ids
        self._clock = clock
        self._rules = ResultRules(session.run_id, self._warn)
        self._attachments = Attachments(artifacts, session, self._warn)
        self._deltas = Deltas()
        self._policy = DeliveryPolicy.decode(session.binding.agent.delivery_policy)
        self._streams = delivery.streams(session.event, self._policy)
        self._stream_row: Outgoing | None = None
        self._grown_before: list[Outgoing] = []
        """Under which another life of the Host showed the message; it grows no more, and is finished there."""
        self._messages = 0
        self._warnings = 0
        self._resumed = False
        self.marked: dict[int, str] = {}
        """Digests of results that were handed in one by one, by number, until they are written with them."""
        self._window: asyncio.TimerHandle | None = None
        self._flush: asyncio.Task[None] | None = None

    @property
    def next_result(self) -> int:
        return self._rules.next_number

    def has_taken(self, sequence: int) -> bool:
        return self._rules.has_taken(sequence)

    async def resume(self, progress: Progress) -> None:
        """Goes on where another life of the Host was."""
        self._rules.resume(progress.last, progress.missing)
        self._attachments.resume(progress.waiting)
        self._deltas.resume(progress.text)
        self._messages = progress.messages
        self._resumed = True
        self._grown_before = await self._delivery.grown_before(self._session.event, self._session.run_id)
        self._streams = self._streams and not self._grown_before

    async def abandon(self) -> None:
        """Somebody else goes on with the run; this one writes nothing more."""
        await self._stop_window()

    async def take(self, batch: list[Any]) -> Aftermath | None:
        """Applies a batch in stream order; the aftermath when it ended the run."""
        step = Step(self._session.run_id, self._clock.now())
        for raw in batch:
            ending = await self._apply(step, self._rules.take(raw))
            if ending is not None:
                return await self._end(step, ending)
        await self._progress(step)
        return None

    async def end(self, ending: Ending | None) -> Aftermath:
        """The stream is over without a last word (None), or the Host ended the run."""
        step = Step(self._session.run_id, self._clock.now())
        if ending is None:
            await self._complete_leftover(step)
            ending = Ending("completed", "stop") if self._messages else NO_OUTPUT
        return await self._end(step, ending)

    async def _apply(self, step: Step, effect: Effect) -> Ending | None:
        match effect:
            case Delta():
                self._deltas.add(effect.text, effect.sequence)
                self._show_thoughts(step, effect.reasoning)
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

    async def _complete(self, step: Step, effect: Completed) -> dict[str, Any]:
        """The message as it is kept and shown."""
        carried = await self._attachments.carry(effect.message, effect.text)
        self._write_deltas(step)
        data, sequence = {"message": carried.message}, effect.sequence
        self._append(step, "message.completed", data, sequence, carried.refs)
        await self._show_message(step, carried)
        return carried.message

    async def _show_message(self, step: Step, carried: Carried) -> None:
        session, message = self._session, carried.message
        step.draft.add(*(artifact.insert() for artifact in carried.made))
        transcript.add_reply_item(
            step.draft,
            self._ids.new(),
            session.event,
            session.run_id,
            "message",
            message,
            carried.text,
            step.now,
            carried.refs,
        )
        self._show_deltas(step)
        grown = self._grown_before or await self._delivery.settle(self._stream_row)
        self._grown_before = []
        composed = self._delivery.complete(
            session.event, session.run_id, message, self._policy, not self._messages, grown
        )
        self._stream_row = None
        step.draft.add(*composed.statements)
        self._delivery.responded(step.draft, composed.rows)
        step.rows += composed.rows
        step.then.append(partial(self._delivery.committed, composed.rows))
        self._deltas.message_completed()
        self._messages += 1
        session.shown = True

    async def _complete_leftover(self, step: Step) -> None:
        text = self._deltas.leftover()
        if text.strip():
            carried = await self._attachments.carry({"role": "assistant", "content": text}, text)
            self._write_deltas(step)
            await self._show_message(step, carried)

    async def _keep_file(self, step: Step, effect: Created) -> None:
        artifact = await self._attachments.created(effect)
        if artifact is None:
            return
        self._write_deltas(step)
        if effect.content is not None:
            step.draft.add(artifact.insert())
        self._append(step, "artifact.created", artifact.told(), effect.sequence, [artifact.ref()])
        self._session.effects = True

    def _note(self, step: Step, effect: Note) -> None:
        self._write_deltas(step)
        self._append(step, effect.type, effect.data, effect.sequence)
        if effect.type == "tool.call.started" and not self._session.calls_over_host(effect.data.get("tool_name", "")):
            self._session.effects = True  # whether the tool only reads is not known here
        if effect.type in ("tool.call.started", "tool.call.completed"):
            status = effect.type.rpartition(".")[2]
            feed, run_id = self._delivery.feed, self._session.run_id
            step.then.append(partial(feed.tool, self._conversation, run_id, effect.data, status, feed.stamp()))
        else:
            self._warn(f"a result has the unknown type '{effect.type[:100]}'; it is recorded and has no effect")

    async def _request(self, step: Step, effect: Note) -> None:
        """An action is begun by the unit that records it, whatever becomes of the run."""
        self._write_deltas(step)
        self._append(step, effect.type, effect.data, effect.sequence)
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
        self._write_deltas(step)
        data = {"scope": effect.scope, "key": effect.key, "value": effect.value}
        self._append(step, "state.updated", data, effect.sequence)
        step.draft.add(state.put(scopes, effect.scope, effect.key, effect.value, step.now))
        self._session.effects = True

    async def _finish(self, step: Step, effect: Finish) -> Ending:
        data = {name: value for name, value in effect.data.items() if name != "message"}
        if effect.ending.status == "completed":
            if effect.message is not None and not self._messages:
                data["message"] = await self._complete(step, effect.message)
            else:
                await self._complete_leftover(step)
        self._write_deltas(step)
        self._append(step, effect.type, data, effect.sequence)
        if effect.ending.status == "completed" and not self._messages and not effect.ending.silent:
            return NO_OUTPUT
        return replace(effect.ending, silent=effect.ending.silent and not self._messages)

    async def _progress(self, step: Step) -> None:
        """No end in this batch: commit what it holds, and show it."""
        if self._streams and self._deltas.unshown:
            if self._stream_row is None:
                self._stream_row = self._open_stream(step)
            self._show_deltas(step)
        elif not self._streams:
            self._deltas.take_unshown()
        if self._deltas.due:
            self._write_deltas(step)
        if not step.empty:
            step.draft.replace(0, self._touch(step))
            await self._commit(step)
        for action in step.then:
            action()
        if self._deltas.unwritten and self._window is None:
            self._window = asyncio.get_running_loop().call_later(WINDOW_SECONDS, self._window_over)

    def _touch(self, step: Step) -> Update:
        """With what was used, when there is something new to tell of it."""
        session = self._session
        usage = session.meter.usage({}) if session.meter.has_notes else None
        self._write_notes(step)
        return ledger.touch(session.run_id, step.now, shown=session.shown, effects=session.effects, usage=usage)

    def _open_stream(self, step: Step) -> Outgoing:
        session = self._session
        row = self._delivery.open_stream(session.event, session.run_id, self._policy)
        step.draft.name = "run.stream"
        step.draft.add(outgoing.put(row))
        session.shown = True
        return row

    async def _end(self, step: Step, ending: Ending) -> Aftermath:
        await self._stop_window()
        session = self._session
        async with session.turn:
            self._write_deltas(step)
            self._write_notes(step)
            step.draft.name = "run.end"
            ending = deadlines.judged(session, ending, step.now)
            ending = replace(ending, usage=session.meter.usage(ending.usage))
            aftermath = self._endings.draft(step.draft, self._facts(), ending)
            step.rows += aftermath.rows
            await self._commit(step, *session.closing)
            session.ended.set()
        for action in step.then:
            action()
        self._delivery.broken(self._stream_row)
        self._delivery.committed(aftermath.rows)
        self._delivery.run_ended(self._conversation, session.run_id, aftermath.status, aftermath.feed_seq)
        return aftermath

    async def _commit(self, step: Step, *closing: Statement) -> None:
        audited = self._session.take_audited()
        step.draft.add(*self._session.fence, *closing, *audited)
        try:
            await self._journal.commit(step.draft.unit())
        except (GuardFailed, StorageFailed):
            self._session.audited[:0] = audited  # the calls were made, whatever became of the results
            self._delivery.abandoned(step.rows)
            raise

    def _facts(self) -> EndingRun:
        session = self._session
        return EndingRun(
            run_id=session.run_id,
            event=session.event,
            agent=session.binding.agent,
            attempts=session.entry.attempts,
            shown=session.shown,
            effects=session.effects,
            next_sequence=session.next_sequence(),
            claimed=tuple(session.claimed),
            injected=tuple(session.injected),
            cancel_requested_at=session.cancel_requested_at,
            streaming=self._stream_row is not None or self._resumed,
        )

    def _append(self, step: Step, type: str, data: Any, sequence: int, refs: Sequence[Any] = ()) -> None:
        run_id, number = self._session.run_id, self._session.next_sequence()
        step.draft.add(
            ledger.append(
                run_id,
                number,
                type,
                data,
                step.now,
                first=sequence,
                last=sequence,
                artifact_refs=refs,
                metadata=self._digests(sequence, sequence),
            )
        )

    def _digests(self, first: int, last: int) -> dict[str, Any]:
        numbers = [number for number in self.marked if first <= number <= last]
        return {"digests": {str(number): self.marked.pop(number) for number in numbers}} if numbers else {}

    def _write_deltas(self, step: Step) -> None:
        if not self._deltas.unwritten:
            return
        text, first, last = self._deltas.take_unwritten()
        chunk = {"chunk": {"role": "assistant", "content": text}}
        run_id, number = self._session.run_id, self._session.next_sequence()
        marks = self._digests(first, last)
        step.draft.add(
            ledger.append(run_id, number, "message.delta", chunk, step.now, first=first, last=last, metadata=marks)
        )

    def _write_notes(self, step: Step) -> None:
        """What the Host has to tell of the run's calls."""
        for type, told in self._session.meter.take_notes():
            number = self._session.next_sequence()
            step.draft.add(ledger.append(self._session.run_id, number, type, told, step.now, source="host"))

    def _window_over(self) -> None:
        self._window = None
        if self._deltas.unwritten and self._session.stopping is None:
            self._flush = asyncio.get_running_loop().create_task(self._flush_window())

    async def _flush_window(self) -> None:
        step = Step(self._session.run_id, self._clock.now())
        self._write_deltas(step)
        step.draft.name = "run.deltas"
        try:
            await self._journal.commit(step.draft.unit())
        except (GuardFailed, StorageFailed) as error:
            logger.warning("deltas of run %s are missing in the ledger: %s", self._session.run_id, error)

    async def _stop_window(self) -> None:
        if self._window is not None:
            self._window.cancel()
        if self._flush is not None:
            await self._flush

    def _show_deltas(self, step: Step) -> None:
        """Numbered now, before the message they belong to: frames come in the order of their numbers."""
        text = self._deltas.take_unshown()
        if text and self._streams:
            fragment = Fragment(text, self._delivery.feed.stamp(), first_message=not self._messages)
            event, run_id, row = self._session.event, self._session.run_id, self._stream_row
            step.then.append(partial(self._delivery.grow, event, run_id, row, fragment, self._policy))

    def _show_thoughts(self, step: Step, thoughts: str) -> None:
        """While they are had; what is kept of them comes with the message."""
        if thoughts and self._streams:
            event, run_id, seq = self._session.event, self._session.run_id, self._delivery.feed.stamp()
            step.then.append(partial(self._delivery.think, event, run_id, thoughts, seq))

    @property
    def _conversation(self) -> str:
        return self._session.event.conversation_id

    def _warn(self, warning: str) -> None:
        self._warnings += 1
        if self._warnings <= WARNINGS_PER_RUN:
            logger.warning("run %s: %s", self._session.run_id, warning)
