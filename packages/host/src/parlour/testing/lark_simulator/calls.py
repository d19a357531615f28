"""The calls of the simulated open platform about messages, chats, users and files."""

import json
import time
from typing import Any

from .checks import read_content
from .world import BOT, Json, LarkRefusal, LarkWorld, SentLarkMessage, shown_text

EMOJIS = {"THUMBSUP", "ThumbsDown", "OK", "SMILE", "PARTY", "HEART", "Typing", "DONE", "APPLAUSE"}
MAX_EDITS = 20
UUID_SECONDS = 3600.0
ID_TYPES = ("open_id", "chat_id", "user_id", "union_id", "email")


class LarkCalls:
    def __init__(self, world: LarkWorld) -> None:
        self._world = world
        self._uuids: dict[str, tuple[float, Json]] = {}
        self.edits: dict[str, int] = {}

    # --- messages

    async def message_send(self, call: Json) -> Json:
        kind, target = call["query"].get("receive_id_type"), call["body"].get("receive_id")
        if kind not in ID_TYPES or not isinstance(target, str):
            raise LarkRefusal(230001, "receive_id_type or receive_id is invalid")
        chat_id = self._world.direct_chat(target) if kind == "open_id" else target
        return await self._send(call, chat_id)

    async def message_reply(self, call: Json, message_id: str) -> Json:
        parent = self._world.message(message_id)
        root = parent.get("root_id") or message_id
        fields = {"parent_id": message_id, "root_id": root}
        if call["body"].get("reply_in_thread") or parent.get("thread_id"):
            fields["thread_id"] = parent.get("thread_id") or f"omt_{root[3:]}"
        return await self._send(call, parent["chat_id"], **fields)

    async def _send(self, call: Json, chat_id: str, **fields: Any) -> Json:
        body = call["body"]
        unknown = set(body) - {"receive_id", "msg_type", "content", "uuid", "reply_in_thread"}
        if unknown or len(body.get("uuid", "")) > 50:
            raise LarkRefusal(230001, f"unknown: {sorted(unknown)}, or the uuid is too long")
        self._world.chat(chat_id)
        if BOT not in self._world.members[chat_id]:
            raise LarkRefusal(230002, "The bot can not be outside the group.")
        content = read_content(body.get("msg_type"), body.get("content"))
        earlier = self._uuids.get(body.get("uuid", ""))
        if earlier is not None and time.monotonic() - earlier[0] < UUID_SECONDS:
            return earlier[1]
        return self._add(body, chat_id, content, call["token"], fields)

    def _add(self, body: Json, chat_id: str, content: Json, token: str, fields: Json) -> Json:
        message = self._world.write(chat_id, BOT, body["msg_type"], body["content"], **fields)
        if body.get("uuid"):
            self._uuids[body["uuid"]] = (time.monotonic(), message)
        sent = SentLarkMessage(message, self._world.shown_chat(chat_id), token=token)
        card = content if body["msg_type"] == "interactive" else {}
        if content.get("type") == "card":
            entity = self._world.cards.get(content["data"]["card_id"])
            if entity is None or entity.message_id:
                raise LarkRefusal(230099, "Failed to create card content, ext=ErrCode: 300302; ErrMsg: card is invalid")
            entity.message_id, card = message["message_id"], entity.content
        key = content.get("image_key") or content.get("file_key")
        if key:
            if key not in self._world.files:
                raise LarkRefusal(230001, "the key is invalid")
            sent.file = self._world.files[key][1]
        sent.card = card
        sent.versions.append(shown_text(body["msg_type"], card or content))
        self._world.sent.append(sent)
        return message

    async def message_get(self, call: Json, message_id: str) -> Json:
        children = [each for each in self._world.messages.values() if each.get("upper_message_id") == message_id]
        return {"items": [self._world.message(message_id), *children]}

    async def message_edit(self, call: Json, message_id: str) -> Json:
        message, body = self._own(message_id), call["body"]
        if message["msg_type"] not in ("text", "post") or body.get("msg_type") not in ("text", "post"):
            raise LarkRefusal(230054, "This operation is not supported for this message type.")
        content = read_content(body["msg_type"], body.get("content"))
        self.edits[message_id] = self.edits.get(message_id, 0) + 1
        if self.edits[message_id] > MAX_EDITS:
            raise LarkRefusal(230072, "The message has reached the number of times it can be edited.")
        message.update(msg_type=body["msg_type"], updated=True)
        self._show(message, body["content"], body["msg_type"], content)
        return message

    async def message_patch(self, call: Json, message_id: str) -> Json:
        message = self._own(message_id)
        if message["msg_type"] != "interactive" or '"card_id"' in message["body"]["content"]:
            raise LarkRefusal(230054, "This operation is not supported for this message type.")
        content = read_content("interactive", call["body"].get("content"))
        sent = self._world.sent_message(message_id)
        if sent is not None and not sent.card.get("config", {}).get("update_multi"):
            raise LarkRefusal(230099, "the card is not shared")
        if sent is not None:
            sent.card = content
        self._show(message, call["body"]["content"], "interactive", content)
        return {}

    def _show(self, message: Json, encoded: str, kind: str, content: Json) -> None:
        message["body"] = {"content": encoded}
        sent = self._world.sent_message(message["message_id"])
        if sent is not None:
            sent.versions.append(shown_text(kind, content))

    async def message_delete(self, call: Json, message_id: str) -> Json:
        self._own(message_id)["deleted"] = True
        if (sent := self._world.sent_message(message_id)) is not None:
            sent.deleted = True
        return {}

    def _own(self, message_id: str) -> Json:
        message = self._world.message(message_id)
        if message["sender"]["id"] != BOT:
            raise LarkRefusal(230071, "The operator is not the sender of the message.")
        return message

    async def message_forward(self, call: Json, message_id: str) -> Json:
        message = self._world.message(message_id)
        target = str(call["body"].get("receive_id"))
        chat_id = self._world.direct_chat(target) if call["query"].get("receive_id_type") == "open_id" else target
        body = {"msg_type": message["msg_type"], "content": message["body"]["content"]}
        return self._add(body, chat_id, json.loads(body["content"]), call["token"], {})

    async def resource(self, call: Json, message_id: str, key: str) -> Any:
        message = self._world.message(message_id)
        if message["sender"]["id"] == BOT or key not in message["body"]["content"] or key not in self._world.files:
            raise LarkRefusal(234003, "File not in msg.")
        return self._world.files[key][1]

    # --- reactions

    async def reaction_add(self, call: Json, message_id: str) -> Json:
        self._world.message(message_id)
        name = call["body"].get("reaction_type", {}).get("emoji_type")
        if name not in EMOJIS:
            raise LarkRefusal(231001, "reaction type is invalid.")
        reaction_id = f"re_{self._world.number()}"
        reaction = {
            "reaction_id": reaction_id, "message_id": message_id, "reaction_type": {"emoji_type": name},
            "operator": {"operator_id": "cli_app", "operator_type": "app"},
        }  # fmt: skip
        self._world.reactions[reaction_id] = reaction
        return reaction

    async def reaction_list(self, call: Json, message_id: str) -> Json:
        name = call["query"].get("reaction_type")
        found = [each for each in self._world.reactions.values() if each["message_id"] == message_id]
        return {
            "items": [each for each in found if name in (None, each["reaction_type"]["emoji_type"])],
            "has_more": False,
        }

    async def reaction_delete(self, call: Json, message_id: str, reaction_id: str) -> Json:
        if self._world.reactions.pop(reaction_id, None) is None:
            raise LarkRefusal(231003, "The message is not found, or the reaction was removed.")
        return {}

    # --- files

    async def image_upload(self, call: Json) -> Json:
        return {"image_key": self._upload(call, "image", "image_type", ("message", "avatar"), 10)}

    async def file_upload(self, call: Json) -> Json:
        kinds = ("opus", "mp4", "pdf", "doc", "xls", "ppt", "stream")
        return {"file_key": self._upload(call, "file", "file_type", kinds, 30)}

    def _upload(self, call: Json, name: str, kind: str, kinds: tuple[str, ...], most: int) -> str:
        form = call["form"]
        data = form.get(name)
        if form.get(kind) not in kinds or not isinstance(data, tuple) or not data[1]:
            raise LarkRefusal(234001, "Invalid request param.")
        if len(data[1]) > most * 2**20:
            raise LarkRefusal(234006, "The file size exceed the max value.")
        key = f"{'img' if name == 'image' else 'file'}_v3_{self._world.number():06}"
        self._world.files[key] = (form.get("file_name") or data[0], data[1])
        return key

    # --- chats and users

    async def bot_info(self, call: Json) -> Json:
        return {"app_name": "Parlour", "open_id": BOT, "avatar_url": "", "activate_status": 2}

    async def chat_get(self, call: Json, chat_id: str) -> Json:
        chat = self._world.chat(chat_id)
        people = [each for each in self._world.members[chat_id] if each != BOT]
        return {**chat, "user_count": str(len(people)), "bot_count": "1"}

    async def chat_update(self, call: Json, chat_id: str) -> Json:
        chat = self._world.chat(chat_id)
        if not isinstance(call["body"].get("name"), str) or not call["body"]["name"]:
            raise LarkRefusal(232001, "Your request contains an invalid request parameter.")
        chat["name"] = call["body"]["name"]
        return {}

    async def chat_list(self, call: Json) -> Json:
        own = [key for key, each in self._world.chats.items() if BOT in self._world.members[key] and each["name"]]
        return self._page([{**self._world.chats[key], "chat_id": key} for key in own], call)

    async def chat_members(self, call: Json, chat_id: str) -> Json:
        self._world.chat(chat_id)
        people = [each for each in self._world.members[chat_id] if each != BOT]
        items = [
            {"member_id_type": "open_id", "member_id": each, "name": self._world.users[each]["name"]} for each in people
        ]
        return self._page(items, call)

    def _page(self, items: list[Json], call: Json) -> Json:
        first, size = int(call["query"].get("page_token") or 0), int(call["query"].get("page_size") or 20)
        if not 1 <= size <= 100:
            raise LarkRefusal(232001, "page_size is invalid")
        more = first + size < len(items)
        return {"items": items[first : first + size], "has_more": more, "page_token": str(first + size) if more else ""}

    async def chat_remove(self, call: Json, chat_id: str) -> Json:
        self._world.chat(chat_id)
        members, unknown = self._world.members[chat_id], []
        for each in call["body"].get("id_list", []):
            member = BOT if call["query"].get("member_id_type") == "app_id" else each
            if member in members:
                members.remove(member)
            else:
                unknown.append(each)
        return {"invalid_id_list": unknown}

    async def user_get(self, call: Json, user_id: str) -> Json:
        if user_id not in self._world.users:
            raise LarkRefusal(41050, "no user authority error")
        return {"user": self._world.users[user_id]}
