"""Actions that only Discord has: channels, invitations, pins, reactions and voice channels."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from parlour.core.platforms.port import PlatformUncertain
from parlour.platforms._kit.payloads import Payload
from parlour_sdk.protocol.platform_api import NotSupportedError

from .client import DiscordClient
from .entities import message_place, snowflake
from .gateway import DiscordGateway
from .guilds import DiscordGuilds

VOICE_TIMEOUT_SECONDS = 10.0
Call = tuple[str, str, Payload | None]
"""Method, path and body of a call."""


def _channel(params: Payload, rest: str = "") -> str:
    return f"/channels/{snowflake('channel_id', str(params['channel_id']))}{rest}"


def _guild(params: Payload, rest: str = "") -> str:
    return f"/guilds/{snowflake('guild_id', str(params['guild_id']))}{rest}"


def _message(params: Payload) -> tuple[str, str]:
    return message_place(str(params["channel_id"]), str(params["message_id"]))


def _pin(method: str, params: Payload) -> Call:
    channel_id, message_id = _message(params)
    return method, f"/channels/{channel_id}/messages/pins/{message_id}", None


def _reaction(method: str, params: Payload) -> Call:
    channel_id, message_id = _message(params)
    emoji = quote(str(params["emoji"]), safe=":")
    return method, f"/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me", None


def _invite(params: Payload) -> Call:
    body: Payload = {name: params[name] for name in ("max_age", "max_uses", "temporary", "unique") if name in params}
    return "POST", _channel(params, "/invites"), body


CALLS: dict[str, Callable[[Payload], Call]] = {
    "get_channel": lambda params: ("GET", _channel(params), None),
    "get_guild": lambda params: ("GET", _guild(params), None),
    "get_guild_channels": lambda params: ("GET", _guild(params, "/channels"), None),
    "get_guild_roles": lambda params: ("GET", _guild(params, "/roles"), None),
    "create_invite": _invite,
    "pin_message": lambda params: _pin("PUT", params),
    "unpin_message": lambda params: _pin("DELETE", params),
    "add_reaction": lambda params: _reaction("PUT", params),
    "remove_reaction": lambda params: _reaction("DELETE", params),
    "typing": lambda params: ("POST", _channel(params, "/typing"), None),
}


async def run_action(
    action: str, params: Payload, client: DiscordClient, guilds: DiscordGuilds, gateway: DiscordGateway
) -> Any:
    if action in CALLS:
        return await client.call(*CALLS[action](params))
    own_id = gateway.account.id
    match action:
        case "join_voice_channel":
            return await _move(str(params["guild_id"]), str(params["channel_id"]), guilds, gateway)
        case "leave_voice_channel":
            return await _move(str(params["guild_id"]), "", guilds, gateway)
        case "get_voice_connection_status":
            channel_id = guilds.voice_channel(str(params["guild_id"]), own_id)
            return {"connected": bool(channel_id), "channel_id": channel_id or None}
        case "list_active_voice_connections":
            return [{"guild_id": guild, "channel_id": channel} for guild, channel in guilds.voice_connections(own_id)]
        case "get_voice_channel_info":
            channel = await client.call_object("GET", _channel(params))
            return {**channel, "user_ids": guilds.voice_users(str(params["channel_id"]))}
    raise NotSupportedError(f"the action {action}")


async def _move(guild_id: str, channel_id: str, guilds: DiscordGuilds, gateway: DiscordGateway) -> Payload:
    """Joins a voice channel without sending sound, or leaves it."""
    snowflake("guild_id", guild_id)
    await gateway.set_voice_channel(guild_id, snowflake("channel_id", channel_id) if channel_id else None)
    if not await guilds.until_voice(guild_id, gateway.account.id, channel_id, VOICE_TIMEOUT_SECONDS):
        raise PlatformUncertain("Discord did not confirm the voice channel; the bot may lack the permission to join it")
    return {"connected": bool(channel_id), "channel_id": channel_id or None}
