"""Hands new messages to the active run: claimed when they arrive, injected when the runner pulls them."""

from collections.abc import Sequence
from typing import Any

from parlour.core.journal import GuardFailed, Journal, Ref, Statement, UnitBuilder, resolve_ref
from parlour.core.message_policy.filtered import FilteredMessages, filtered_input
from parlour.core.message_policy.wake import MESSAGE_TYPE
from parlour.core.model.agent import Binding
from parlour.core.model.ids import TranscriptId
from parlour.core.model.ports import Clock, Ids
from parlour.core.routing.decisions import ToAgent
from parlour.core.routing.router import Router
from parlour.core.store import inbox, ledger, transcript
from parlour_sdk.protocol.limits import STEERING_QUEUE

from .admission import RunAdmission
from .context import event_parts
from .session import QueuedEvent, RunSession
from .session_registry import RunSessions


class SteeringQueue:
    """Claims messages for active runs and returns them to the runners."""

    def __init__(
        self,
        journal: Journal,
        sessions: RunSessions,
        router: Router,
        admission: RunAdmission,
        filtered: FilteredMessages,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._admission = admission
        self._filtered = filtered
        self._sessions = sessions
        self._router = router
        self._ids = ids
        self._clock = clock

    async def claim(self, entry: QueuedEvent) -> bool:
        """Returns whether the active run of the lane claimed the message. Otherwise the message waits for its own
        turn.
        """
        session = self._sessions.in_lane(entry.lane)
        binding = self._joined_binding(session, entry) if session is not None else None
        if session is None or binding is None:
            return False
        if not await self._admission.consult(entry, binding):
            return False
        async with session.commit_lock:
            admitted = await self._admit(entry, binding)
            if admitted is None:
                return False  # it is refused, or waits, at its own turn
            if session.is_closed() or len(session.claimed) >= STEERING_QUEUE:
                return False
            now = self._clock.now()
            draft = UnitBuilder("steering.claim")
            draft.add(ledger.update_progress(session.run_id, now))
            transcript_seq: int | Ref = entry.transcript_seq or transcript.add_user_item(
                draft, TranscriptId(self._ids.new()), entry.readable_event, now
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
            draft.add(*admitted)
            if is_filtered := entry.has_new_hits:
                self._filtered.add(draft, entry.event, filtered_input(entry.filter_hits))
            try:
                receipt = await self._journal.commit(draft.build())
            except GuardFailed:
                return False
            if is_filtered:
                self._filtered.after_commit()
            entry.transcript_seq, entry.claimed_at = resolve_ref(receipt, transcript_seq), now
            session.claimed.append(entry)
            session.meter.add_host_calls(entry.host_calls)
            entry.host_calls = ()
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

    def _joined_binding(self, session: RunSession, entry: QueuedEvent) -> Binding | None:
        """Returns the binding of a message that may join the run: it has the same actor and agent, so that permissions
        never widen. None if it may not.
        """
        if not session.identity.steerable or entry.run_id:
            return None
        run_envelope, message_envelope = session.event.envelope, entry.event.envelope
        if (run_envelope.actor.type, run_envelope.actor.id) != (message_envelope.actor.type, message_envelope.actor.id):
            return None
        match self._router.decide(message_envelope):
            case ToAgent(binding) if binding.agent.agent_id == session.binding.agent.agent_id:
                return binding
            case _:
                return None

    async def _admit(self, entry: QueuedEvent, binding: Binding) -> Sequence[Statement] | None:
        """Returns the statements that count the message for its policy; None if the policy does not admit it now."""
        policy = self._admission.policy(binding) if binding.agent.message_policy else None
        if policy is None or entry.event.envelope.event_type != MESSAGE_TYPE:
            return ()
        admission = await self._admission.admit(entry, binding, policy)
        return None if admission.obstacle is not None or admission.wait_until else admission.statements


def _item(session: RunSession, entry: QueuedEvent) -> dict[str, Any]:
    head = {"claimed_run_id": session.run_id, "runner_id": session.grant.runner_id, "claimed_at": entry.claimed_at}
    return {**head, **event_parts(entry.readable_event, session.identity.multimodal), "metadata": {}}
