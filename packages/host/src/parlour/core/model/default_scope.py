"""Scopes for which an agent can be the default: thread, conversation, channel, actor or workspace. Pure functions."""

from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

from .chats import PLATFORM_SURFACE, chat_key
from .event import EventEnvelope
from .ids import NO_BOT, BotId

ScopeKind = Literal["thread", "conversation", "channel", "actor", "workspace"]
SCOPE_KINDS: tuple[ScopeKind, ...] = get_args(ScopeKind)
"""Scopes in order of precedence, the most specific first. A bot's routes rank between `actor` and `workspace`."""


class DefaultScope(NamedTuple):
    """Identifies one scope by the platform's own ids, so that it survives when a chat starts a new conversation.

    Fields that a scope does not need are empty. Several are created per message, so it is a cheap tuple.
    """

    scope: ScopeKind
    platform: str = ""
    bot_id: BotId = NO_BOT
    chat: str = ""
    thread_id: str = ""
    actor_id: str = ""

    @property
    def label(self) -> str:
        """Description of the scope for messages to operators."""
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


REQUIRED_FIELDS: dict[ScopeKind, tuple[str, ...]] = {
    "thread": ("bot_id", "chat", "thread_id"),
    "conversation": ("bot_id", "chat"),
    "channel": ("platform", "chat"),
    "actor": ("platform", "actor_id"),
    "workspace": (),
}
"""Fields that identify each kind of scope."""
WORKSPACE_SCOPE = DefaultScope("workspace")


def event_scopes(event: EventEnvelope) -> Iterator[DefaultScope]:
    """Yields the scopes that contain an event of a platform, the most specific first; none for other surfaces.

    An API call that shows its replies on a platform is in that chat, but its source is not the platform, so a caller
    can't obtain the default agent of a person by naming that person as the actor.
    """
    if event.surface != PLATFORM_SURFACE:
        return
    kind, native, account = (str(event.data.get(name, "")) for name in ("chat_type", "chat_id", "account"))
    if kind in ("private", "group") and native:
        chat = chat_key(("group" if kind == "group" else "private", native), account)
        if event.thread_id:
            yield DefaultScope("thread", bot_id=event.bot_id, chat=chat, thread_id=event.thread_id)
        yield DefaultScope("conversation", bot_id=event.bot_id, chat=chat)
        yield DefaultScope("channel", platform=event.source, chat=f"{kind}:{native}")
    if event.actor.id:
        yield DefaultScope("actor", platform=event.source, actor_id=event.actor.id)
