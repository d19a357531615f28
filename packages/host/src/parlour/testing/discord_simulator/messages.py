"""The calls of the simulated Discord about messages: sending, editing, reactions, pins and interactions."""

import json
import time
from typing import Any
from urllib.parse import unquote

from .forms import check_message
from .gateway import GatewayServer
from .world import (
    APPLICATION_ID,
    BOT_ID,
    DiscordRefusal,
    DiscordWorld,
    Json,
    SentDiscordMessage,
    invalid,
    iso_now,
    not_found,
)

ACKNOWLEDGE_SECONDS = 3.0
TOKEN_SECONDS = 900.0
FORWARD = 1
Files = dict[str, tuple[str, bytes, str]]
"""Name, content and type of a file by the name of its form field."""


class MessageCalls:
    def __init__(self, world: DiscordWorld, gateway: GatewayServer) -> None:
        self._world = world
        self._gateway = gateway
        self.address = ""

    async def create(self, channel_id: str, body: Any, files: Files) -> Json:
        world = self._world
        channel = world.channel(channel_id)
        recipients = channel.get("recipients") or [{}]
        if recipients[0].get("id") in world.closed_users:
            raise DiscordRefusal(403, 50007, "Cannot send messages to this user")
        if channel_id in world.forbidden:
            raise DiscordRefusal(403, 50013, "Missing Permissions")
        form = check_message(body, files)
        nonce = (channel_id, str(form.get("nonce")))
        if form.get("enforce_nonce") and nonce in world.nonces:
            return world.messages[world.nonces[nonce]]
        fields = self._shown(form, files, channel_id)
        message = world.write(channel_id, world.bot, str(form.get("content") or "").strip(), **fields)
        world.nonces[nonce] = message["id"]
        if (nonce_value := form.get("nonce")) is not None:
            message["nonce"] = nonce_value
        contents = [data for _, data, _ in files.values()]
        world.sent.append(SentDiscordMessage(message, [message["content"]], files=contents))
        await self._gateway.dispatch("MESSAGE_CREATE", message)
        return message

    def _shown(self, form: Json, files: Files, channel_id: str) -> Json:
        """Returns the fields of a message that come from its form."""
        world = self._world
        allowed = form.get("allowed_mentions")
        fields: Json = {
            "embeds": [{"type": "rich", **each} for each in form.get("embeds") or ()],
            "components": form.get("components") or [],
            "attachments": [self._store(each) for each in files.values()],
            "mentions": [world.users[each] for each in (allowed or {}).get("users") or () if each in world.users],
            "mention_everyone": "@everyone" in str(form.get("content"))
            and (allowed is None or "everyone" in (allowed.get("parse") or ())),
        }
        if form.get("sticker_ids"):
            fields["sticker_items"] = [
                {"id": each, "name": "a sticker", "format_type": 1} for each in form["sticker_ids"]
            ]
        reference = form.get("message_reference")
        return fields | (self._referenced(reference, channel_id) if reference else {})

    def _store(self, file: tuple[str, bytes, str]) -> Json:
        name, data, mime_type = file
        file_id = self._world.id()
        self._world.files[file_id] = data
        url = f"{self.address}/attachments/{file_id}/{name}"
        return {
            "id": file_id, "filename": name, "size": len(data), "url": url, "proxy_url": url, "content_type": mime_type,
        }  # fmt: skip

    def _referenced(self, reference: Json, channel_id: str) -> Json:
        source = str(reference.get("channel_id") or channel_id)
        original = self._world.messages.get(str(reference.get("message_id")))
        if original is None or original["channel_id"] != source:
            if reference.get("fail_if_not_exists", True) is False and reference.get("type") != FORWARD:
                return {}
            raise invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        known = {"message_id": original["id"], "channel_id": source, "type": reference.get("type", 0)}
        if reference.get("type") == FORWARD:
            kept = ("type", "content", "embeds", "attachments", "timestamp", "edited_timestamp", "flags", "mentions")
            snapshot = {name: original[name] for name in (*kept, "mention_roles")}
            return {"message_reference": known, "message_snapshots": [{"message": snapshot}]}
        return {"type": 19, "message_reference": known, "referenced_message": original}

    async def edit(self, channel_id: str, message_id: str, body: Any) -> Json:
        message = self._own(channel_id, message_id)
        form = check_message(body, {}, is_edit=True)
        changes: Json = {"edited_timestamp": iso_now()}
        if "content" in form:
            changes["content"] = (form["content"] or "").strip()
        for name in ("embeds", "components"):
            if name in form:
                changes[name] = form[name] or []
        message.update(changes)
        sent = self._world.sent_message(message_id)
        if sent is not None and "content" in form:
            sent.versions.append(message["content"])
        await self._gateway.dispatch("MESSAGE_UPDATE", message)
        return message

    def _own(self, channel_id: str, message_id: str) -> Json:
        self._world.channel(channel_id)
        message = self._world.message(channel_id, message_id)
        if message["author"]["id"] != BOT_ID:
            raise DiscordRefusal(403, 50005, "Cannot edit a message authored by another user")
        return message

    async def delete(self, channel_id: str, message_id: str) -> None:
        self._world.channel(channel_id)
        message = self._world.message(channel_id, message_id)
        del self._world.messages[message_id]
        if (sent := self._world.sent_message(message_id)) is not None:
            sent.deleted = True
        place: Json = {name: message[name] for name in ("channel_id", "guild_id") if name in message}
        await self._gateway.dispatch("MESSAGE_DELETE", {"id": message_id, **place})

    def get(self, channel_id: str, message_id: str) -> Json:
        self._world.channel(channel_id)
        message = self._world.message(channel_id, message_id)
        return {name: value for name, value in message.items() if name not in ("guild_id", "member", "nonce")}

    def history(self, channel_id: str, limit: int) -> list[Json]:
        self._world.channel(channel_id)
        if not 1 <= limit <= 100:
            raise invalid("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.")
        own = [each for each in self._world.messages.values() if each["channel_id"] == channel_id]
        return [self.get(channel_id, each["id"]) for each in reversed(own[-limit:])]

    async def react(self, channel_id: str, message_id: str, emoji: str, add: bool) -> None:
        message = self._world.message(channel_id, message_id)
        name = unquote(emoji)
        if name.isascii() and ":" not in name:
            raise DiscordRefusal(400, 10014, "Unknown Emoji")
        change = self._world.reactions.add if add else self._world.reactions.discard
        change((message_id, name, BOT_ID))
        shown = {"id": name.split(":")[1], "name": name.split(":")[0]} if ":" in name else {"id": None, "name": name}
        place = {"channel_id": channel_id, "message_id": message_id}
        event: Json = {"user_id": BOT_ID, **place, "emoji": shown, "burst": False, "type": 0}
        guild = {"guild_id": message["guild_id"]} if "guild_id" in message else {}
        await self._gateway.dispatch(f"MESSAGE_REACTION_{'ADD' if add else 'REMOVE'}", {**event, **guild})

    def pin(self, channel_id: str, message_id: str, add: bool) -> None:
        self._world.message(channel_id, message_id)["pinned"] = add
        if add:
            self._world.pins.append(message_id)
        elif message_id in self._world.pins:
            self._world.pins.remove(message_id)

    # --- interactions

    def respond(self, interaction_id: str, token: str, body: Any) -> Json:
        interaction = self._world.interactions.get(interaction_id)
        is_late = interaction is not None and time.monotonic() - interaction.pressed_at > ACKNOWLEDGE_SECONDS
        if interaction is None or interaction.payload["token"] != token or is_late:
            raise not_found(10062, "Unknown interaction")
        if interaction.responses:
            raise DiscordRefusal(400, 40060, "Interaction has already been acknowledged.")
        if not isinstance(body, dict) or body.get("type") not in (4, 5, 6, 7, 8, 9):
            raise invalid("type", "BASE_TYPE_CHOICES", "Value must be one of (4, 5, 6, 7, 8, 9).")
        if body["type"] in (6, 7) and interaction.payload["type"] == 2:
            raise invalid("type", "INTERACTION_INVALID_TYPE", "A command has no message to update.")
        if "data" in body and body["type"] in (4, 7):
            check_message(
                {name: each for name, each in body["data"].items() if name not in ("flags", "tts")}, {}, is_edit=True
            )
        interaction.responses.append(body)
        payload = interaction.payload
        shown = payload.get("message") if body["type"] in (6, 7) else None
        known = {"id": payload["id"], "type": payload["type"], "response_message_id": (shown or {}).get("id")}
        resource = {"type": body["type"], **({"message": shown} if shown else {})}
        return {"interaction": known, "resource": resource}

    def original(self, application_id: str, token: str) -> Any:
        """Returns the interaction whose first answer is meant."""
        found = [each for each in self._world.interactions.values() if each.payload["token"] == token]
        is_late = bool(found) and time.monotonic() - found[0].pressed_at > TOKEN_SECONDS
        if application_id != APPLICATION_ID or not found or not found[0].responses or is_late:
            raise not_found(10015, "Unknown Webhook")
        return found[0]


def read_json(data: bytes) -> Any:
    try:
        return json.loads(data) if data else {}
    except ValueError:
        raise DiscordRefusal(400, 50109, "The request body contains invalid JSON.") from None
