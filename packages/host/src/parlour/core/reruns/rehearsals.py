"""Asks plugins about the message and the replies of a rerun. They are told that it is a rehearsal; nothing is sent."""

from typing import Any

from parlour.core.delivery.reply_hooks import ReplyDraft, ReplyHooks
from parlour.core.runs.message_hooks import MessageHooks
from parlour.core.runs.session import RunSession


class HookRehearsals:
    """Asks plugins as for a real message, and records their answers in the ledger of the rerun."""

    def __init__(self, messages: MessageHooks, replies: ReplyHooks) -> None:
        self._messages = messages
        self._replies = replies

    async def admits(self, session: RunSession) -> bool:
        """Returns whether plugins let the message pass to an agent."""
        entry = session.entry
        if not self._messages.are_asked(session.binding, entry.event.envelope):
            return True
        record = await self._messages.ask(entry.event, session.binding, rehearsal=True)
        entry.hooked = record.message
        data = {
            "event": "message.arriving",
            "hooks": list(record.answers),
            "replies": [str(each.get("content") or "") for each in record.replies],
        }
        session.meter.record_event("hook.asked", data)
        return not record.message.stopped_by

    async def replies(
        self, session: RunSession, message: dict[str, Any], text: str
    ) -> list[tuple[dict[str, Any], str]]:
        """Returns the messages that plugins make of one, each with its text."""
        if not self._replies.are_asked(session.binding):
            return [(message, text)]
        draft = ReplyDraft(
            session.event, session.run_id, session.binding, message, text, session.entry.variables, rehearsal=True
        )
        prepared = await self._replies.prepare(draft)
        session.meter.record_event("hook.asked", {"event": "reply.preparing", "hooks": list(prepared.answers)})
        return list(prepared.messages)
