"""Starts conversations."""

from parlour_sdk.protocol.listing import ConversationStarted, StartConversation

from .calls import Namespace


class ConversationsAPI(Namespace):
    async def start(self, conversation_id: str) -> str:
        """Ends this conversation, starts a new one in the same chat and returns the new id."""
        answer = await self._calls.call(
            "start_conversation", StartConversation, ConversationStarted, conversation_id=conversation_id
        )
        return answer.conversation_id
