"""Records the output and effects of a rerun. Nothing of it is shown, delivered or added to a transcript.

Deltas are written when they fill a row or another result follows; a rerun that is interrupted by a crash of the Host
loses the rest.
"""

from collections.abc import Sequence
from typing import Any

from parlour.core.journal import Draft, Journal
from parlour.core.model.ports import Clock
from parlour.core.runs import deadline
from parlour.core.runs.attachments import BLANK, Attachments, Carried
from parlour.core.runs.deltas import Deltas
from parlour.core.runs.dry_run_state import Rehearsal
from parlour.core.runs.results import Completed, Created, Delta, Effect, Finish, Ignored, Note, ResultRules, StateWrite
from parlour.core.runs.run_warnings import Warnings
from parlour.core.runs.session import Ending, RunSession
from parlour.core.store import ledger
from parlour.core.store.artifact_service import Artifacts
from parlour.core.store.ledger import RunEnd

NO_OUTPUT = Ending("failed", "runner.no_output", "the runner ended without an answer")


class RerunRecorder:
    """Applies the results of one rerun to the ledger and to its dry-run state."""

    def __init__(
        self, session: RunSession, rehearsal: Rehearsal, journal: Journal, artifacts: Artifacts, clock: Clock
    ) -> None:
        self._session = session
        self._rehearsal = rehearsal
        self._journal = journal
        self._clock = clock
        self._warn = Warnings("rerun", session.run_id).add
        self._rules = ResultRules(session.run_id, self._warn)
        self._attachments = Attachments(artifacts, session, self._warn)
        self._deltas = Deltas()
        self._messages = 0

    async def take(self, batch: list[Any]) -> Ending | None:
        draft = self._draft()
        for raw in batch:
            ending = await self._apply(draft, self._rules.take(raw))
            if ending is not None:
                return await self._end(draft, ending)
        self._deltas.take_unshown()
        if self._deltas.due:
            self._write_deltas(draft)
        if len(draft) > 1:
            await self._commit(draft)
        return None

    async def end(self, ending: Ending | None) -> Ending:
        draft = self._draft()
        if ending is None:
            await self._complete_leftover(draft)
            ending = Ending("completed", "stop") if self._messages else NO_OUTPUT
        return await self._end(draft, ending)

    async def _apply(self, draft: Draft, effect: Effect) -> Ending | None:
        match effect:
            case Delta():
                self._deltas.add(effect.text, effect.sequence)
            case Completed():
                await self._complete(draft, effect)
            case Note():
                self._append(draft, effect.type, effect.data, effect.sequence)
            case Created():
                await self._keep_file(draft, effect)
            case StateWrite():
                self._write_state(draft, effect)
            case Finish():
                return await self._finish(draft, effect)
            case Ignored():
                self._warn(effect.warning)
        return None

    async def _complete(self, draft: Draft, effect: Completed) -> dict[str, Any] | None:
        carried = await self._attachments.carry(effect.message, effect.text)
        if carried.blank:
            self._warn(BLANK)
            return None
        self._append(draft, "message.completed", {"message": carried.message}, effect.sequence, carried.refs)
        self._completed(draft, carried)
        return carried.message

    async def _complete_leftover(self, draft: Draft) -> None:
        text = self._deltas.leftover()
        carried = await self._attachments.carry({"role": "assistant", "content": text}, text) if text.strip() else None
        if carried is not None and not carried.blank:
            self._completed(draft, carried)

    def _completed(self, draft: Draft, carried: Carried) -> None:
        draft.add(*(artifact.insert() for artifact in carried.made))
        self._deltas.message_completed()
        self._messages += 1

    async def _keep_file(self, draft: Draft, effect: Created) -> None:
        artifact = await self._attachments.created(effect)
        if artifact is None:
            return
        if effect.content is not None:
            draft.add(artifact.insert())
        self._append(draft, "artifact.created", artifact.told(), effect.sequence, [artifact.ref()])

    def _write_state(self, draft: Draft, effect: StateWrite) -> None:
        if effect.scope not in self._rehearsal.state:
            self._warn(f"state.updated names the scope '{effect.scope}', which this run was not granted")
            return
        self._rehearsal.state[effect.scope][effect.key] = effect.value
        data = {"scope": effect.scope, "key": effect.key, "value": effect.value}
        self._append(draft, "state.updated", data, effect.sequence)

    async def _finish(self, draft: Draft, effect: Finish) -> Ending:
        data = {name: value for name, value in effect.data.items() if name != "message"}
        if effect.ending.status == "completed":
            last = effect.message if not self._messages else None
            if last is not None and (message := await self._complete(draft, last)) is not None:
                data["message"] = message
            else:
                await self._complete_leftover(draft)
        self._append(draft, effect.type, data, effect.sequence)
        if effect.ending.status == "completed" and not self._messages and not effect.ending.silent:
            return NO_OUTPUT
        return effect.ending

    async def _end(self, draft: Draft, ending: Ending) -> Ending:
        session = self._session
        ending = deadline.judged(session, ending, self._clock.now())
        self._write_deltas(draft)
        session.meter.cut_off()
        draft.name = "rerun.end"
        end = RunEnd(
            ending.status,
            ending.code,
            ending.error,
            session.meter.usage(ending.usage),
            session.cancel_requested_at,
            effects=session.effects,
        )
        draft.replace(0, ledger.end_run(session.run_id, end, self._clock.now()))
        await self._commit(draft)
        session.ended.set()
        return ending

    def _draft(self) -> Draft:
        draft = Draft("rerun.progress")
        draft.add(ledger.touch(self._session.run_id, self._clock.now()))
        return draft

    async def _commit(self, draft: Draft) -> None:
        session, now = self._session, self._clock.now()
        for type, told in session.meter.take_notes():
            draft.add(ledger.append(session.run_id, session.next_sequence(), type, told, now, source="host"))
        draft.add(*session.take_audited())
        await self._journal.commit(draft.unit())

    def _append(self, draft: Draft, type: str, data: Any, sequence: int, refs: Sequence[Any] = ()) -> None:
        self._write_deltas(draft)
        run_id, number, now = self._session.run_id, self._session.next_sequence(), self._clock.now()
        draft.add(
            ledger.append(run_id, number, type, data, now, first=sequence, last=sequence, artifact_refs=refs),
        )

    def _write_deltas(self, draft: Draft) -> None:
        if not self._deltas.unwritten:
            return
        text, first, last = self._deltas.take_unwritten()
        chunk = {"chunk": {"role": "assistant", "content": text}}
        run_id, number, now = self._session.run_id, self._session.next_sequence(), self._clock.now()
        draft.add(ledger.append(run_id, number, "message.delta", chunk, now, first=first, last=last))
