"""Defines the tables of what bots have seen on their platforms, and of the replies that these allow."""

from parlour.core.journal import Table

from .columns import columns

NAMES = Table(
    "names",
    columns("bot_id kind entity_id name", "created_at expires_at"),
    key=("bot_id", "kind", "entity_id"),
    indexes=(("expires_at",),),
)
"""Names of users and groups from a bot's platform, by kind (`user`, `group`) and id, until they expire."""

DIRECTORY = Table(
    "directory",
    columns("bot_id kind entity_id name data", "private seen_at"),
    key=("bot_id", "kind", "entity_id"),
    indexes=(("seen_at",),),
)
"""Users and groups that the events of a bot named, by kind (`user`, `group`) and id; `private` users are friends."""

DIRECTORY_MEMBERS = Table(
    "directory_members",
    columns("bot_id group_id user_id name role", "seen_at"),
    key=("bot_id", "group_id", "user_id"),
    indexes=(("bot_id", "user_id"), ("seen_at",)),
)
"""Members of groups that the events of a bot named, with their name and role in the group."""

DIRECTORY_MESSAGES = Table(
    "directory_messages",
    columns("bot_id chat message_id thread_id event_id sender_id", "seen_at"),
    key=("bot_id", "chat", "message_id"),
    indexes=(("bot_id", "message_id"), ("bot_id", "sender_id"), ("seen_at",)),
)
"""Messages that a bot received, with their chat, sender and event. The event has their content."""

REPLY_ALLOWANCES = Table(
    "reply_allowances",
    columns(
        "bot_id event_id chat handle fallback scope reason",
        "allowed used repeatable until created_at expires_at",
    ),
    key=("bot_id", "event_id"),
    indexes=(("bot_id", "chat", "created_at"), ("expires_at",)),
)
"""Replies that a platform allows to an event: `allowed` (0: any number) before `until`, of which `used` were sent."""
