"""Where an agent can be the default one: a thread, a conversation, a channel, with a person, in the workspace. Pure."""

from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

from .chats import SURFACE, chat_key
from .event import EventEnvelope

Scope = Literal["thread", "conversation", "channel", "actor", "workspace"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""The most specific first. A bot's routes stand between the actor and the workspace."""


class Place(NamedTuple):
    """Named as platforms name it, so that it stays the same when a chat begins anew. What a scope lacks is empty.

    Made several times per message, and so as cheap as can be.
    """

    scope: Scope
    platform: str = ""
    bot_id: str = ""
    chat: str = ""
    thread_id: str = ""
    actor_id: str = ""

    @property
    def label(self) -> str:
        """As people are told of it."""
        match self.scope:
            case "thread":
                return f"thread {self.thread_id} of {self.chat}"
            case "conversation":
                return f"conversation {self.chat}"
            case "channel":
                return f"channel {self.chat} on {self.platform}"
            case "actor":
                return f"actor {self.actor_id} on {self.platform}"
            case "workspace":
                return "the workspace"


NEEDED: dict[Scope, tuple[str, ...]] = {
    "thread": ("bot_id", "chat", "thread_id"),
    "conversation": ("bot_id", "chat"),
    "channel": ("platform", "chat"),
    "actor": ("platform", "actor_id"),
    "workspace": (),
}
"""What names a place of each scope."""
WORKSPACE = Place("workspace")


def around(event: EventEnvelope) -> Iterator[Place]:
    """Where on its platform an event happened, the most specific first.

    What came over the API is in a chat only if it speaks there, and its source is no platform: nobody gets a person's
    agent by naming that person.
    """
    if event.surface != SURFACE:
        return
    kind, native, account = (str(event.data.get(name, "")) for name in ("chat_type", "chat_id", "account"))
    if kind in ("private", "group") and native:
        chat = chat_key(("group" if kind == "group" else "private", native), account)
        if event.thread_id:
            yield Place("thread", bot_id=event.bot_id, chat=chat, thread_id=event.thread_id)
        yield Place("conversation", bot_id=event.bot_id, chat=chat)
        yield Place("channel", platform=event.source, chat=f"{kind}:{native}")
    if event.actor.id:
        yield Place("actor", platform=event.source, actor_id=event.actor.id)
