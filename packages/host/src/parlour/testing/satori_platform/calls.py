"""The calls that the platform behind the Satori server takes, with what it refuses."""

from collections.abc import Awaitable, Callable
from typing import Any

from .world import BOT_ID, Json, SatoriRefusal, SatoriWorld

MAX_CONTENT = 5 * 1024 * 1024
PAGE = 2
"""Items of one page of a list."""


class SatoriCalls:
    def __init__(self, world: SatoriWorld) -> None:
        self._world = world

    def handlers(self) -> dict[str, Callable[[Json], Awaitable[Any]]]:
        return {
            "message.create": self._create, "message.update": self._update, "message.delete": self._delete,
            "message.get": self._get, "reaction.create": self._react, "reaction.delete": self._unreact,
            "channel.get": self._channel, "channel.update": self._rename, "user.channel.create": self._direct,
            "guild.get": self._guild, "guild.list": self._guilds, "guild.member.list": self._members,
            "guild.member.get": self._member, "guild.member.kick": self._kick, "guild.member.mute": self._mute,
            "guild.approve": self._approve_guild, "friend.approve": self._approve_friend, "friend.list": self._friends,
            "user.get": self._user, "*": self._internal,
        }  # fmt: skip

    async def _create(self, params: Json) -> list[Json]:
        content = params.get("content")
        if not isinstance(content, str) or not content.strip() or len(content) > MAX_CONTENT:
            raise SatoriRefusal(400, "content is empty or too long")
        message = self._world.write(_id(params, "channel_id"), BOT_ID, content)
        return [{"id": message["id"], "content": content}]

    async def _update(self, params: Json) -> None:
        message = self._own(params)
        message["content"] = self._world.sent_message(message["id"]).content = _id(params, "content")

    async def _delete(self, params: Json) -> None:
        message = self._world.message(_id(params, "channel_id"), _id(params, "message_id"))
        if message["user"]["id"] == BOT_ID:
            self._world.sent_message(message["id"]).deleted = True
        del self._world.messages[message["id"]]

    def _own(self, params: Json) -> Json:
        message = self._world.message(_id(params, "channel_id"), _id(params, "message_id"))
        if message["user"]["id"] != BOT_ID:
            raise SatoriRefusal(403, "this is a message of another user")
        return message

    async def _get(self, params: Json) -> Json:
        return self._world.message(_id(params, "channel_id"), _id(params, "message_id"))

    async def _react(self, params: Json) -> None:
        message = await self._get(params)
        self._world.reactions.add((message["id"], _id(params, "emoji_id")))

    async def _unreact(self, params: Json) -> None:
        message = await self._get(params)
        self._world.reactions.discard((message["id"], _id(params, "emoji_id")))

    async def _channel(self, params: Json) -> Json:
        return self._world.channel(_id(params, "channel_id"))

    async def _rename(self, params: Json) -> None:
        self._world.channel(_id(params, "channel_id"))["name"] = params["data"]["name"]

    async def _direct(self, params: Json) -> Json:
        return self._world.channel(self._world.direct(_id(params, "user_id")))

    async def _guild(self, params: Json) -> Json:
        guild_id = _id(params, "guild_id")
        if guild_id not in self._world.guilds:
            raise SatoriRefusal(404, f"guild {guild_id} not found")
        return self._world.guilds[guild_id]

    async def _guilds(self, params: Json) -> Json:
        return _page(list(self._world.guilds.values()), params)

    async def _members(self, params: Json) -> Json:
        await self._guild(params)
        return _page(list(self._world.members[params["guild_id"]].values()), params)

    async def _member(self, params: Json) -> Json:
        return self._world.member(_id(params, "guild_id"), _id(params, "user_id"))

    async def _kick(self, params: Json) -> None:
        await self._member(params)
        del self._world.members[params["guild_id"]][params["user_id"]]

    async def _mute(self, params: Json) -> None:
        await self._member(params)
        duration = params.get("duration")
        if not isinstance(duration, int) or duration < 0:
            raise SatoriRefusal(400, "duration is a number of milliseconds")
        self._world.muted[params["user_id"]] = duration

    async def _approve_guild(self, params: Json) -> None:
        self._world.answers.append(("guild", _id(params, "message_id"), params["approve"] is True))

    async def _approve_friend(self, params: Json) -> None:
        self._world.answers.append(("friend", _id(params, "message_id"), params["approve"] is True))

    async def _friends(self, params: Json) -> Json:
        return _page([{"user": self._world.users[each]} for each in sorted(self._world.friends)], params)

    async def _user(self, params: Json) -> Json:
        user_id = _id(params, "user_id")
        if user_id not in self._world.users:
            raise SatoriRefusal(404, f"user {user_id} not found")
        return self._world.users[user_id]

    async def _internal(self, params: Json) -> Json:
        return {"echo": params}


def _id(params: Json, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise SatoriRefusal(400, f"{name} is required")
    return value


def _page(items: list[Json], params: Json) -> Json:
    start = int(params.get("next") or 0)
    following = {"next": str(start + PAGE)} if start + PAGE < len(items) else {}
    return {"data": items[start : start + PAGE], **following}
