"""Converts users, channels, guilds and logins of Satori into common entities."""

from typing import Any

from parlour.platforms._kit.ids import compose_id, split_id
from parlour.platforms._kit.payloads import Payload, identifier, number, object_in, text
from parlour_sdk.protocol.people import Group, GroupMember, MemberRole, User
from parlour_sdk.values import dataclass

NAME = "satori"
SERVICE = "the Satori server"
ONLINE = 1
DIRECT = 1
"""Type of a channel with one user."""
_OWNERS = ("owner", "guild_owner", "OWNER")
_ADMINS = ("admin", "administrator", "ADMINISTRATOR", "ADMIN")


@dataclass(frozen=True, slots=True)
class SatoriLogin:
    """An account of a server: the platform and the bot's user id there."""

    platform: str
    self_id: str

    @property
    def account(self) -> str:
        return compose_id(self.platform, self.self_id)


def login_of(payload: Payload) -> SatoriLogin:
    """Returns the account of a login or of an event; older servers name it outside of a login. Raises ValueError."""
    login = object_in(payload, "login") or payload
    self_id = object_in(login, "user").get("id") or login.get("self_id") or payload.get("self_id")
    return SatoriLogin(text(login, "platform") or identifier(payload.get("platform")), identifier(self_id))


def login_of_account(account: str) -> SatoriLogin:
    platform, self_id = split_id(account, 2)
    return SatoriLogin(platform, self_id)


def user(payload: Payload, member: Payload | None = None) -> User:
    """Returns a user, with the name that is shown in the guild if the server sends it."""
    nickname = text(member or {}, "nick") or text(payload, "nick") or text(payload, "name")
    return User(
        id=identifier(payload.get("id")),
        nickname=nickname,
        username=text(payload, "name") or None,
        avatar_url=text(payload, "avatar") or None,
        is_bot=payload.get("is_bot") is True,
    )


def role(member: Payload) -> MemberRole:
    names = _role_names(member.get("roles"))
    if any(each in _OWNERS for each in names):
        return "owner"
    return "admin" if any(each in _ADMINS for each in names) else "member"


def _role_names(roles: Any) -> list[str]:
    """Returns ids and names of roles, which servers send as objects or as texts."""
    found: list[str] = []
    for each in roles if isinstance(roles, list) else []:
        values = [each.get("id"), each.get("name")] if isinstance(each, dict) else [each]
        found += [str(value) for value in values if isinstance(value, str)]
    return found


def member(payload: Payload, group_id: str, person: Payload | None = None) -> GroupMember:
    joined_at = number(payload.get("joined_at"))
    return GroupMember(
        user=user(object_in(payload, "user") or person or {}, payload),
        group_id=group_id,
        role=role(payload),
        display_name=text(payload, "nick") or None,
        joined_at=joined_at,
    )


def group(payload: Payload) -> Group:
    """Returns a guild or a channel as a group."""
    return Group(
        id=identifier(payload.get("id")), name=text(payload, "name"), avatar_url=text(payload, "avatar") or None
    )
