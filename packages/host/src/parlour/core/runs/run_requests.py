"""Turns a plugin's request for a run into an event: on whose behalf the run acts, and in which conversation. A plugin
can't act for a sender whom it does not serve.
"""

from dataclasses import replace
from typing import Any

from parlour.core.delivery import targets
from parlour.core.errors import Refused
from parlour.core.journal import Journal, Row, Select, where
from parlour.core.model.event import EventContext, EventEnvelope, Party
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.run_request import Commission
from parlour.core.store.tables import CONVERSATIONS
from parlour_sdk.protocol.events import Actor
from parlour_sdk.protocol.runs import RunCreate

from .caller import Caller
from .run_creation import Asked

DEEPEST = 8
"""Maximum depth of runs that create runs."""


class Commissions:
    """Builds run requests from the calls of plugins."""

    def __init__(self, journal: Journal, ids: Ids, clock: Clock) -> None:
        self._journal = journal
        self._ids = ids
        self._clock = clock

    async def asked(self, caller: Caller, request: RunCreate) -> Asked:
        commission = self._commission(caller, request)
        if caller.session is not None:
            return self._within(caller, request, commission)
        return await self._outside(caller, request, commission)

    def _commission(self, caller: Caller, request: RunCreate) -> Commission:
        above = caller.session.event.envelope.commission if caller.session is not None else None
        depth = 1 + (above.depth if above is not None else 0)
        if depth > DEEPEST:
            raise Refused("denied", f"runs that create runs may be {DEEPEST} deep, and this would be one more")
        return Commission(
            caller.plugin_id,
            request.runner_id or "",
            request.config,
            request.queue or bool(request.labels),
            tuple(sorted(set(request.labels))),
            depth,
        )

    def _within(self, caller: Caller, request: RunCreate, commission: Commission) -> Asked:
        """Builds a request of a run. It acts for the sender whom the run serves, in a new conversation or in the run's
        own.
        """
        session = caller.run
        sender = session.event.envelope
        _check_actor(request.event.actor, sender.actor, "the one whom this run serves")
        named = request.event.conversation_id
        if named is not None and named != session.event.conversation_id:
            raise Refused("not_found", "event.conversation_id: no conversation of this run has this id")
        if named is None:
            envelope = self._event(request, commission, sender.actor, f"run:{self._ids.new()}", "api")
            return Asked(envelope, "", sender, session.run_id)
        envelope = self._event(
            request, commission, sender.actor, sender.chat, sender.surface, sender.bot_id, sender.thread_id
        )
        return Asked(replace(envelope, data=_happened_there(envelope, sender)), named, sender, session.run_id)

    async def _outside(self, caller: Caller, request: RunCreate, commission: Commission) -> Asked:
        """Builds a request from outside a run. It acts for the plugin itself, in a conversation that the plugin has
        started before or in a new one.
        """
        actor = Party("plugin", caller.plugin_id, caller.plugin_id)
        _check_actor(request.event.actor, actor, "the plugin itself, outside a run")
        event, named = request.event, request.event.conversation_id
        chat, thread_id = f"run:{self._ids.new()}", event.thread_id or ""
        if named is not None:
            known = await self._own_conversation(named, commission.plugin_id)
            chat, thread_id = known["chat"], known["thread_id"]
        envelope = self._event(request, commission, actor, chat, "api", "", thread_id)
        nobody = EventEnvelope("", "", "", "", EventContext(""), "", actor=actor)
        return Asked(envelope, named or "", nobody)

    async def _own_conversation(self, conversation_id: str, plugin_id: str) -> Row:
        own = where(conversation_id=conversation_id, principal=_principal(plugin_id))
        rows = await self._journal.read(Select(CONVERSATIONS, own, limit=1))
        if not rows:
            raise Refused("not_found", "event.conversation_id: no conversation of this plugin has this id")
        return rows[0]

    def _event(
        self,
        request: RunCreate,
        commission: Commission,
        actor: Party,
        chat: str,
        surface: str,
        bot_id: str = "",
        thread_id: str = "",
    ) -> EventEnvelope:
        event, subject = request.event, request.event.subject
        return EventEnvelope(
            event_id=event.event_id or self._ids.new(),
            event_type=event.event_type,
            source="api",
            chat=chat,
            context=EventContext(self._ids.new(), request.run_id or "", "plugin"),
            surface=surface,
            bot_id=bot_id,
            thread_id=thread_id,
            agent_id=request.agent_id or "",
            principal=_principal(commission.plugin_id),
            event_time=self._clock.now(),
            actor=actor,
            subject=Party(subject.subject_type, subject.subject_id or "", "", subject.data) if subject else Party(),
            input=event.input.model_dump(mode="json", exclude_none=True),
            data=event.data,
            commission=commission,
        )


def _happened_there(envelope: EventEnvelope, sender: EventEnvelope) -> dict[str, Any]:
    """Returns the event data with the sender's address, so that the reply goes to the sender's chat. A plugin can't
    choose a chat by the data of its event.
    """
    said = {name: value for name, value in envelope.data.items() if name not in targets.OWN}
    return said | {name: value for name, value in sender.data.items() if name in targets.OWN}


def _principal(plugin_id: str) -> str:
    return f"plugin:{plugin_id}"


def _check_actor(named: Actor | None, own: Party, who: str) -> None:
    if named is not None and (named.actor_type, named.actor_id or "") != (own.type, own.id):
        raise Refused("unauthorized", f"event.actor: a run acts for {who}; leave it out")
