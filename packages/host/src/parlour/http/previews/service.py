"""Builds the events of previews and hands them to the gateway, together with their entry in the audit."""

from parlour.core.access import audit
from parlour.core.ingest.acceptance import IngestResult
from parlour.core.ingest.gateway import Gateway
from parlour.core.model.event import PREVIEW_WORKSPACE, ConversationKey, EventContext, EventEnvelope, Participant
from parlour.core.model.ids import NO_AGENT, NO_BOT, ConversationId, EventId
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.preview import PREVIEW, PreviewScene
from parlour.core.store.conversations import Conversations

from ..principals import Principal
from .schemas import PreviewBody


class PreviewChats:
    """Sends messages of previews, and finds their conversations: one for each administrator, target and chat."""

    def __init__(self, gateway: Gateway, conversations: Conversations, ids: Ids, clock: Clock) -> None:
        self._gateway = gateway
        self._conversations = conversations
        self._ids = ids
        self._clock = clock

    async def send(self, body: PreviewBody, scene: PreviewScene, principal: Principal) -> IngestResult:
        """Accepts a message. Its text is in the history of the preview and not in the audit."""
        now, event_id = self._clock.now(), body.event_id or EventId(self._ids.new())
        is_addressed = scene.mentions_bot and scene.chat_type == "group"
        event = EventEnvelope(
            event_id=event_id,
            event_type="message.received",
            source=PREVIEW,
            chat=scene.chat,
            context=EventContext(self._ids.new(), origin=PREVIEW),
            surface=PREVIEW,
            workspace_id=PREVIEW_WORKSPACE,
            principal=principal.owner,
            event_time=now,
            actor=Participant(PREVIEW, principal.owner, scene.person_name or principal.name),
            input={"text": body.text},
            data={"chat_type": scene.chat_type, "chat_id": scene.chat, "mentions_bot": is_addressed},
            metadata={PREVIEW: scene.describe()},
        )
        target = f"pipeline:{scene.pipeline_id}" if scene.pipeline_id else f"bot:{scene.bot_id}"
        detail = {"event_id": event_id, **scene.describe()}
        return await self._gateway.ingest(
            event, audit.change_entry(principal.owner, "preview.send", target, None, detail, now)
        )

    async def find(self, scene: PreviewScene, principal: Principal) -> ConversationId | None:
        """Returns the conversation with the history of a preview; None before the first message."""
        key = ConversationKey(PREVIEW_WORKSPACE, PREVIEW, NO_BOT, scene.chat, "", NO_AGENT, principal.owner)
        return await self._conversations.find(key)
