"""Action by which a plugin starts a new conversation in a chat."""

from parlour.core.errors import CallRejected
from parlour.core.model.ids import ConversationId
from parlour.core.model.ports import Clock, Ids
from parlour.core.runs.caller import ActionCaller
from parlour.core.store.conversations import Conversations
from parlour_sdk.protocol.listing import ConversationStarted, StartConversation

from .handlers import Handler


class ConversationActions:
    def __init__(self, conversations: Conversations, ids: Ids, clock: Clock) -> None:
        self._conversations = conversations
        self._ids = ids
        self._clock = clock

    def handlers(self) -> dict[str, Handler]:
        return {"start_conversation": self.start}

    async def start(self, caller: ActionCaller, request: StartConversation) -> ConversationStarted:
        key = await self._conversations.get_key(ConversationId(request.conversation_id))
        if key is None:
            raise CallRejected("not_found", f"there is no conversation '{request.conversation_id[:64]}'")
        conversation_id = await self._conversations.start_new(key, self._ids, self._clock)
        return ConversationStarted(conversation_id=conversation_id)
