"""Asks plugins and filters about the message and the replies of a rerun. Nothing is sent.

Plugins are told that it is a rehearsal.
"""

from typing import Any

from parlour.core.delivery.reply_hooks import ReplyDraft, ReplyHooks
from parlour.core.message_policy.checks import FilterSubject
from parlour.core.message_policy.outputs import OutputPolicies, OutputRules
from parlour.core.runs.message_hooks import MessageHooks
from parlour.core.runs.session import RunSession


class HookRehearsals:
    """Asks plugins as for a real message, and records their answers in the ledger of the rerun."""

    def __init__(self, messages: MessageHooks, replies: ReplyHooks, policies: OutputPolicies) -> None:
        self._messages = messages
        self._replies = replies
        self._policies = policies

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
        """Returns the messages that plugins and output filters make of one, each with its text."""
        prepared = await self._prepared(session, message, text)
        policy = session.binding.agent.message_policy
        rules = self._policies.for_run(policy, session.event) if policy else None
        return prepared if rules is None else [await self._filtered(session, rules, *each) for each in prepared]

    async def _filtered(
        self, session: RunSession, rules: OutputRules, message: dict[str, Any], text: str
    ) -> tuple[dict[str, Any], str]:
        subject = FilterSubject(session.event, session.binding, "output", session.run_id, rehearsal=True)
        verdicts = await rules.check(message, text, subject)
        session.meter.add_host_calls(each.call for each in verdicts.values())
        filtered = rules.filter(message, text, verdicts)
        if verdicts or filtered.hits:
            data = {"rules": [hit.rule for hit in filtered.hits], "checks": rules.verdict_notes(verdicts)}
            session.meter.record_event("policy.filtered", data)
        return filtered.message, filtered.text

    async def _prepared(
        self, session: RunSession, message: dict[str, Any], text: str
    ) -> list[tuple[dict[str, Any], str]]:
        if not self._replies.are_asked(session.binding):
            return [(message, text)]
        draft = ReplyDraft(
            session.event, session.run_id, session.binding, message, text, session.entry.variables, rehearsal=True
        )
        prepared = await self._replies.prepare(draft)
        session.meter.record_event("hook.asked", {"event": "reply.preparing", "hooks": list(prepared.answers)})
        return list(prepared.messages)
