"""Hands new messages to the active run: claimed when they arrive, injected when the runner pulls them."""

from typing import Any

from parlour.core.journal import GuardFailed, Journal, Ref, UnitBuilder, resolve_ref
from parlour.core.model.agent import Binding
from parlour.core.model.ids import TranscriptId
from parlour.core.model.ports import Clock, Ids
from parlour.core.routing.decisions import ToAgent
from parlour.core.routing.router import Router
from parlour.core.store import inbox, ledger, transcript
from parlour_sdk.protocol.limits import STEERING_QUEUE

from .context import event_parts
from .session import QueuedEvent, RunSession
from .session_registry import RunSessions


class SteeringQueue:
    """Claims messages for active runs and returns them to the runners."""

    def __init__(self, journal: Journal, sessions: RunSessions, router: Router, ids: Ids, clock: Clock) -> None:
        self._journal = journal
        self._sessions = sessions
        self._router = router
        self._ids = ids
        self._clock = clock

    async def claim(self, entry: QueuedEvent) -> bool:
        """Returns whether the active run of the lane claimed the message. Otherwise the message waits for its own
        turn.
        """
        session = self._sessions.in_lane(entry.lane)
        if session is None or not self._may_join(session, entry):
            return False
        async with session.commit_lock:
            if session.is_closed() or len(session.claimed) >= STEERING_QUEUE:
                return False
            now = self._clock.now()
            draft = UnitBuilder("steering.claim")
            draft.add(ledger.update_progress(session.run_id, now))
            transcript_seq: int | Ref = entry.transcript_seq or transcript.add_user_item(
                draft, TranscriptId(self._ids.new()), entry.event, now
            )
            draft.add(inbox.claim(entry.seq, session.run_id, transcript_seq))
            data = {
                "source_event_id": entry.event.envelope.event_id,
                "claimed_by_run_id": session.run_id,
                "claimed_runner_id": session.grant.runner_id,
                "claimed_at": now,
            }
            draft.add(
                ledger.append_event(
                    session.run_id, session.next_sequence(), "steering.queued", data, now, source="host"
                )
            )
            try:
                receipt = await self._journal.commit(draft.build())
            except GuardFailed:
                return False
            entry.transcript_seq, entry.claimed_at = resolve_ref(receipt, transcript_seq), now
            session.claimed.append(entry)
            return True

    async def pull(self, session: RunSession, limit: int) -> list[dict[str, Any]]:
        """Injects up to `limit` claimed messages into the run and returns them."""
        async with session.commit_lock:
            if session.is_closed():
                return []
            entries = list(session.claimed)[:limit]
            if not entries:
                return []
            now = self._clock.now()
            draft = UnitBuilder("steering.pull")
            draft.add(ledger.update_progress(session.run_id, now))
            for entry in entries:
                draft.add(inbox.inject(entry.seq, session.run_id))
                data = {"source_event_id": entry.event.envelope.event_id}
                draft.add(
                    ledger.append_event(
                        session.run_id, session.next_sequence(), "steering.injected", data, now, source="host"
                    )
                )
            await self._journal.commit(draft.build())
            for entry in entries:
                session.claimed.popleft()
                session.injected.append(entry)
            return [_item(session, entry) for entry in entries]

    def _may_join(self, session: RunSession, entry: QueuedEvent) -> bool:
        """Returns whether the message has the same actor and agent as the run, so that permissions never widen."""
        if not session.identity.steerable or entry.run_id:
            return False
        run_envelope, message_envelope = session.event.envelope, entry.event.envelope
        if (run_envelope.actor.type, run_envelope.actor.id) != (message_envelope.actor.type, message_envelope.actor.id):
            return False
        match self._router.decide(message_envelope):
            case ToAgent(Binding(agent=agent)):
                return agent.agent_id == session.binding.agent.agent_id
            case _:
                return False


def _item(session: RunSession, entry: QueuedEvent) -> dict[str, Any]:
    head = {"claimed_run_id": session.run_id, "runner_id": session.grant.runner_id, "claimed_at": entry.claimed_at}
    return {**head, **event_parts(entry.event, session.identity.multimodal), "metadata": {}}
