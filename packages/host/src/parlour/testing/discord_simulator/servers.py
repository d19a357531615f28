"""The calls of the simulated Discord about servers, channels, members and users."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from .gateway import GatewayServer
from .world import APPLICATION_ID, BOT_ID, DiscordRefusal, DiscordWorld, Json, invalid, not_found

ServerHandler = Callable[[web.Request, Any], Awaitable[Any]]
MAX_TIMEOUT = timedelta(days=28)
MAX_NAME = 100


class ServerCalls:
    def __init__(self, world: DiscordWorld, gateway: GatewayServer) -> None:
        self._world = world
        self._gateway = gateway

    def routes(self) -> list[tuple[str, str, str, ServerHandler]]:
        """Returns method, path, name and handler of each call."""
        guild, member = "/guilds/{guild}", "/guilds/{guild}/members/{user}"
        return [
            ("GET", "/gateway", "gateway", self.gateway),
            ("GET", "/gateway/bot", "gateway", self.gateway),
            ("GET", "/users/@me", "me", self.me),
            ("GET", "/applications/@me", "application", self.application),
            ("GET", "/oauth2/applications/@me", "application", self.application),
            ("GET", "/users/@me/guilds", "guilds", self.guilds),
            ("DELETE", "/users/@me/guilds/{guild}", "leave", self.leave),
            ("POST", "/users/@me/channels", "open", self.open_direct),
            ("GET", "/users/{user}", "user", self.user),
            ("GET", "/channels/{channel}", "channel", self.channel),
            ("PATCH", "/channels/{channel}", "rename", self.rename_channel),
            ("POST", "/channels/{channel}/invites", "invite", self.invite),
            ("GET", guild, "guild", self.guild),
            ("PATCH", guild, "rename", self.rename_guild),
            ("GET", f"{guild}/channels", "channels", self.channels),
            ("GET", f"{guild}/roles", "roles", self.roles),
            ("GET", f"{guild}/members", "members", self.members),
            ("GET", member, "member", self.member),
            ("PATCH", member, "mute", self.change_member),
            ("DELETE", member, "kick", self.kick),
        ]

    async def gateway(self, request: web.Request, body: Any) -> Json:
        limit = {"total": 1000, "remaining": self._gateway.identifies_left, "reset_after": 500, "max_concurrency": 1}
        return {"url": self._gateway.url, "shards": 1, "session_start_limit": limit}

    async def me(self, request: web.Request, body: Any) -> Json:
        return self._world.bot

    async def application(self, request: web.Request, body: Any) -> Json:
        return {
            "id": APPLICATION_ID, "name": "Parlour", "icon": None, "description": "", "summary": "", "bot_public": True,
            "bot_require_code_grant": False, "verify_key": "", "flags": 0, "owner": self._world.bot, "team": None,
        }  # fmt: skip

    async def guilds(self, request: web.Request, body: Any) -> list[Json]:
        own = [each.payload for each in self._world.guilds.values() if BOT_ID in each.members]
        after = int(request.query.get("after", "0"))
        page = [each for each in sorted(own, key=lambda each: int(each["id"])) if int(each["id"]) > after]
        kept = ("id", "name", "icon", "features")
        return [{name: each[name] for name in kept} for each in page[: int(request.query.get("limit", "200"))]]

    async def leave(self, request: web.Request, body: Any) -> None:
        guild = self._world.guild(request.match_info["guild"])
        del self._world.guilds[guild.payload["id"]]
        await self._gateway.dispatch("GUILD_DELETE", {"id": guild.payload["id"]})

    async def open_direct(self, request: web.Request, body: Any) -> Json:
        return self._world.direct_channel(str(body.get("recipient_id")))

    async def user(self, request: web.Request, body: Any) -> Json:
        user_id = request.match_info["user"]
        if user_id not in self._world.users:
            raise not_found(10013, "Unknown User")
        return self._world.users[user_id]

    async def channel(self, request: web.Request, body: Any) -> Json:
        return self._world.channel(request.match_info["channel"])

    async def rename_channel(self, request: web.Request, body: Any) -> Json:
        channel = self._world.channel(request.match_info["channel"])
        channel["name"] = _name(body)
        await self._gateway.dispatch("CHANNEL_UPDATE", channel)
        return channel

    async def invite(self, request: web.Request, body: Any) -> Json:
        channel = self._world.channel(request.match_info["channel"])
        if not 0 <= int(body.get("max_age", 86400)) <= 604800:
            raise invalid("max_age", "NUMBER_TYPE_MAX", "int value should be less than or equal to 604800.")
        invite = {"code": f"invite{len(self._world.invites)}", "channel": {"id": channel["id"]}, **body}
        self._world.invites.append(invite)
        return invite

    async def guild(self, request: web.Request, body: Any) -> Json:
        guild = self._world.guild(request.match_info["guild"])
        counts = {"approximate_member_count": len(guild.members)} if request.query.get("with_counts") == "true" else {}
        return {**guild.payload, **counts}

    async def rename_guild(self, request: web.Request, body: Any) -> Json:
        guild = self._world.guild(request.match_info["guild"])
        guild.payload["name"] = _name(body)
        await self._gateway.dispatch("GUILD_UPDATE", guild.payload)
        return guild.payload

    async def channels(self, request: web.Request, body: Any) -> list[Json]:
        guild_id = self._world.guild(request.match_info["guild"]).payload["id"]
        own = [each for each in self._world.channels.values() if each.get("guild_id") == guild_id]
        return [each for each in own if each["type"] != 11]

    async def roles(self, request: web.Request, body: Any) -> list[Json]:
        return list(self._world.guild(request.match_info["guild"]).payload["roles"])

    async def members(self, request: web.Request, body: Any) -> list[Json]:
        session = self._gateway.session
        if session is not None and not session.intents & 1 << 1:
            raise DiscordRefusal(403, 50001, "Missing Access")
        guild = self._world.guild(request.match_info["guild"])
        after = int(request.query.get("after", "0"))
        limit = int(request.query.get("limit", "1"))
        if not 1 <= limit <= 1000:
            raise invalid("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 1000.")
        ordered = sorted(guild.members.items(), key=lambda each: int(each[0]))
        return [member for user_id, member in ordered if int(user_id) > after][:limit]

    async def member(self, request: web.Request, body: Any) -> Json:
        return self._world.member(request.match_info["guild"], request.match_info["user"])

    async def change_member(self, request: web.Request, body: Any) -> Json:
        member = self._world.member(request.match_info["guild"], request.match_info["user"])
        until = body.get("communication_disabled_until")
        if until is not None and datetime.fromisoformat(until) > datetime.now(UTC) + MAX_TIMEOUT + timedelta(minutes=1):
            raise invalid("communication_disabled_until", "DATETIME_TYPE_MAX", "Timeout must be at most 28 days.")
        member["communication_disabled_until"] = until
        update = {"guild_id": request.match_info["guild"], **member}
        await self._gateway.dispatch("GUILD_MEMBER_UPDATE", update)
        return member

    async def kick(self, request: web.Request, body: Any) -> None:
        guild_id = request.match_info["guild"]
        member = self._world.member(guild_id, request.match_info["user"])
        del self._world.guilds[guild_id].members[member["user"]["id"]]
        await self._gateway.dispatch("GUILD_MEMBER_REMOVE", {"guild_id": guild_id, "user": member["user"]})


def _name(body: Json) -> str:
    name = body.get("name")
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME:
        raise invalid("name", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MAX_NAME} in length.")
    return name
