"""What can be asked of a platform, one request per method. An adapter that lacks one raises NotSupportedError."""

from typing import Any

from pydantic import Field

from .base import Count, Tolerant
from .calls import Call
from .chain import MessageChain
from .people import ChatType, Group, GroupMember, User


class NotSupportedError(Exception):
    """Raised when the platform, or its connection, does not support an API."""

    code = "not_supported"

    def __init__(self, api: str) -> None:
        super().__init__(f"this bot's platform does not support {api}")
        self.api = api


class MessageResult(Tolerant):
    """What became of a message that was sent."""

    message_id: str | None = None
    raw: Any = None
    """The platform's own answer, JSON-safe."""


class PlatformCall(Call):
    """Base of calls to one bot."""

    bot_id: str


class SendMessage(PlatformCall):
    """Sends to a chat of the plugin's choice."""

    target_type: ChatType
    target_id: str
    chain: MessageChain = Field(min_length=1)
    idempotency_key: str | None = None


class ReplyMessage(PlatformCall):
    """Answers an event; the target is the event's own chat."""

    event_id: str
    chain: MessageChain = Field(min_length=1)
    quote: bool = False
    """Whether the answered message is quoted."""
    idempotency_key: str | None = None


class MessageCall(PlatformCall):
    """Base of calls about one message of one chat."""

    chat_type: ChatType
    chat_id: str
    message_id: str


class EditMessage(MessageCall):
    """Puts other content in the place of a message's."""

    chain: MessageChain = Field(min_length=1)


class DeleteMessage(MessageCall):
    """Takes a message away."""


class ForwardMessage(PlatformCall):
    """Hands a message on to another chat."""

    from_chat_type: ChatType
    from_chat_id: str
    message_id: str
    to_chat_type: ChatType
    to_chat_id: str


class GetMessage(MessageCall):
    """Asks for one message."""


class PlatformMessage(Tolerant):
    """A message as the platform has it."""

    message_id: str
    chat_type: ChatType
    chat_id: str
    sender: User | None = None
    time: int | None = None
    chain: MessageChain = []


class React(MessageCall):
    """Adds a reaction to a message, or takes it back."""

    reaction: str
    add: bool = True


class GroupCall(PlatformCall):
    """Base of calls about one group."""

    group_id: str


class GetGroupInfo(GroupCall):
    """Asks about a group."""


class GetGroupList(PlatformCall):
    """Asks which groups the bot is in."""


class GroupList(Tolerant):
    """The groups that the bot is in."""

    groups: list[Group] = []
    incomplete: bool = False
    """True if the list has only those that the Host has seen in events."""


class GetGroupMemberList(GroupCall):
    """Asks who is in a group."""


class MemberList(Tolerant):
    """Who is in a group."""

    members: list[GroupMember] = []
    incomplete: bool = False
    """True if the list has only those that the Host has seen in events."""


class MemberCall(GroupCall):
    """Base of calls about one member of one group."""

    user_id: str


class GetGroupMemberInfo(MemberCall):
    """Asks about a member."""


class SetGroupName(GroupCall):
    """Renames a group."""

    name: str


class MuteMember(MemberCall):
    """Keeps a member from speaking."""

    duration: Count = 0
    """Seconds; 0 is for good."""


class UnmuteMember(MemberCall):
    """Lets a member speak again."""


class KickMember(MemberCall):
    """Puts a member out of the group."""


class LeaveGroup(GroupCall):
    """Takes the bot out of the group."""


class IsMuted(GroupCall):
    """Asks whether the bot may speak in the group."""


class MutedState(Tolerant):
    """Whether the bot is kept from speaking."""

    muted: bool


class GetUserInfo(PlatformCall):
    """Asks about a user."""

    user_id: str


class GetFriendList(PlatformCall):
    """Asks who the bot's friends are."""


class FriendList(Tolerant):
    """The bot's friends."""

    friends: list[User] = []
    incomplete: bool = False
    """True if the list has only those that the Host has seen in events."""


class AnswerFriendRequest(PlatformCall):
    """Takes somebody as a friend, or does not."""

    request_id: str
    approve: bool
    remark: str | None = None
    """The name to keep them under."""


class AnswerGroupInvite(PlatformCall):
    """Takes an invitation into a group, or does not."""

    request_id: str
    approve: bool


class UploadFile(PlatformCall):
    """One piece of a file. The first has no `upload_id`; the piece with `is_last` sends the whole to the platform."""

    content_base64: str
    filename: str
    upload_id: str | None = None
    is_last: bool = True


class UploadedFile(Tolerant):
    """The answer to a piece: where to go on, or the platform's id or address once the file is there."""

    upload_id: str | None = None
    file_id: str | None = None
    url: str | None = None


class GetFileUrl(PlatformCall):
    """Asks for the address of a file."""

    file_id: str


class FileUrl(Tolerant):
    """The address of a file."""

    url: str


class SendTyping(PlatformCall):
    """Shows that the bot is writing."""

    chat_type: ChatType
    chat_id: str


class CallPlatformApi(PlatformCall):
    """One of the adapter's own declared actions."""

    action: str
    params: dict[str, Any] = {}


class PlatformAnswer(Tolerant):
    """What the adapter's own action gave, JSON-safe."""

    result: Any = None
