"""Turns a plugin's request for a run into an event: on whose behalf the run acts, and in which conversation. A plugin
can't act for a sender whom it does not serve.
"""

from dataclasses import replace
from typing import Any

from parlour.core.delivery import targets
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Row, Select, where
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import NO_BOT, NO_CONVERSATION, AgentId, BotId, ConversationId, EventId, PluginId, RunnerId
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.run_request import RunRequest
from parlour.core.store.tables import CONVERSATIONS
from parlour_sdk.protocol.events import Actor
from parlour_sdk.protocol.runs import RunCreate

from .caller import ActionCaller
from .run_creation import NewRunRequest

MAX_DEPTH = 8
"""Maximum depth of runs that create runs."""


class RunRequestBuilder:
    """Builds run requests from the calls of plugins."""

    def __init__(self, journal: Journal, ids: Ids, clock: Clock) -> None:
        self._journal = journal
        self._ids = ids
        self._clock = clock

    async def build(self, caller: ActionCaller, request: RunCreate) -> NewRunRequest:
        run_request = self._run_request(caller, request)
        if caller.session is not None:
            return self._from_run(caller, request, run_request)
        return await self._from_plugin(caller, request, run_request)

    def _run_request(self, caller: ActionCaller, request: RunCreate) -> RunRequest:
        parent_request = caller.session.event.envelope.run_request if caller.session is not None else None
        depth = 1 + (parent_request.depth if parent_request is not None else 0)
        if depth > MAX_DEPTH:
            raise CallRejected("denied", f"runs that create runs may be {MAX_DEPTH} deep, and this would be one more")
        return RunRequest(
            caller.plugin_id,
            RunnerId(request.runner_id or ""),
            request.config,
            request.queue or bool(request.labels),
            tuple(sorted(set(request.labels))),
            depth,
        )

    def _from_run(self, caller: ActionCaller, request: RunCreate, run_request: RunRequest) -> NewRunRequest:
        """Builds a request of a run. It acts for the sender whom the run serves, in a new conversation or in the run's
        own.
        """
        session = caller.run_session
        sender = session.event.envelope
        _check_actor(request.event.actor, sender.actor, "the one whom this run serves")
        conversation_id = request.event.conversation_id
        if conversation_id is not None and conversation_id != session.event.conversation_id:
            raise CallRejected("not_found", "event.conversation_id: no conversation of this run has this id")
        if conversation_id is None:
            envelope = self._event(request, run_request, sender.actor, f"run:{self._ids.new()}", "api")
            envelope = replace(envelope, workspace_id=sender.workspace_id)
            return NewRunRequest(envelope, NO_CONVERSATION, sender, session.run_id)
        envelope = self._event(
            request, run_request, sender.actor, sender.chat, sender.surface, sender.bot_id, sender.thread_id
        )
        return NewRunRequest(
            replace(envelope, workspace_id=sender.workspace_id, data=_inherit_chat(envelope, sender)),
            ConversationId(conversation_id),
            sender,
            session.run_id,
        )

    async def _from_plugin(self, caller: ActionCaller, request: RunCreate, run_request: RunRequest) -> NewRunRequest:
        """Builds a request from outside a run. It acts for the plugin itself, in a conversation that the plugin has
        started before or in a new one.
        """
        actor = Participant("plugin", caller.plugin_id, caller.plugin_id)
        _check_actor(request.event.actor, actor, "the plugin itself, outside a run")
        event, conversation_id = request.event, request.event.conversation_id
        chat, thread_id = f"run:{self._ids.new()}", event.thread_id or ""
        if conversation_id is not None:
            conversation = await self._conversation_of_plugin(ConversationId(conversation_id), run_request.plugin_id)
            chat, thread_id = conversation["chat"], conversation["thread_id"]
        envelope = self._event(request, run_request, actor, chat, "api", NO_BOT, thread_id)
        authority = EventEnvelope(EventId(""), "", "", "", EventContext(""), "", actor=actor)
        return NewRunRequest(envelope, ConversationId(conversation_id or ""), authority)

    async def _conversation_of_plugin(self, conversation_id: ConversationId, plugin_id: PluginId) -> Row:
        conditions = where(conversation_id=conversation_id, principal=_principal(plugin_id))
        rows = await self._journal.read(Select(CONVERSATIONS, conditions, limit=1))
        if not rows:
            raise CallRejected("not_found", "event.conversation_id: no conversation of this plugin has this id")
        return rows[0]

    def _event(
        self,
        request: RunCreate,
        run_request: RunRequest,
        actor: Participant,
        chat: str,
        surface: str,
        bot_id: BotId = NO_BOT,
        thread_id: str = "",
    ) -> EventEnvelope:
        event, subject = request.event, request.event.subject
        return EventEnvelope(
            event_id=EventId(event.event_id or self._ids.new()),
            event_type=event.event_type,
            source="api",
            chat=chat,
            context=EventContext(self._ids.new(), request.run_id or "", "plugin"),
            surface=surface,
            bot_id=bot_id,
            thread_id=thread_id,
            agent_id=AgentId(request.agent_id or ""),
            principal=_principal(run_request.plugin_id),
            event_time=self._clock.now(),
            actor=actor,
            subject=Participant(subject.subject_type, subject.subject_id or "", "", subject.data)
            if subject
            else Participant(),
            input=event.input.model_dump(mode="json", exclude_none=True),
            data=event.data,
            run_request=run_request,
        )


def _inherit_chat(envelope: EventEnvelope, sender: EventEnvelope) -> dict[str, Any]:
    """Returns the event data with the sender's address, so that the reply goes to the sender's chat. A plugin can't
    choose a chat by the data of its event.
    """
    other_data = {name: value for name, value in envelope.data.items() if name not in targets.ADDRESS_FIELDS}
    return other_data | {name: value for name, value in sender.data.items() if name in targets.ADDRESS_FIELDS}


def _principal(plugin_id: PluginId) -> str:
    return f"plugin:{plugin_id}"


def _check_actor(requested: Actor | None, expected: Participant, description: str) -> None:
    if requested is not None and (requested.actor_type, requested.actor_id or "") != (expected.type, expected.id):
        raise CallRejected("unauthorized", f"event.actor: a run acts for {description}; leave it out")
