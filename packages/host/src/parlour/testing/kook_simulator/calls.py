"""The HTTP calls of the simulated KOOK, checked as KOOK checks them."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from .gateway import KookGatewayServer
from .world import BOT_ID, Json, KookRefusal, KookWorld, SentKookMessage

MAX_TEXT, MAX_CARDS, MAX_MODULES = 8000, 5, 50
TEXT_KINDS, MEDIA_KINDS, CARD = (1, 9), (2, 3, 4, 8), 10
CREATE_FIELDS = {"type", "target_id", "content", "quote", "nonce", "temp_target_id", "chat_code"}
Call = Callable[[Json], Awaitable[Any]]


class KookCalls:
    def __init__(self, world: KookWorld, gateway: KookGatewayServer) -> None:
        self._world = world
        self._gateway = gateway
        self.address = ""

    def routes(self) -> dict[tuple[str, str], Call]:
        """Returns the calls by method and path."""
        calls: dict[tuple[str, str], Call] = {
            ("GET", "gateway/index"): self.index,
            ("GET", "user/me"): self.me,
            ("GET", "user/view"): self.user,
            ("POST", "user/offline"): self.nothing,
            ("GET", "channel/view"): self.channel,
            ("POST", "channel/update"): self.rename,
            ("GET", "guild/view"): self.guild,
            ("GET", "guild/list"): self.guilds,
            ("GET", "guild/user-list"): self.members,
            ("POST", "guild/kickout"): self.kick,
            ("POST", "guild/leave"): self.leave,
            ("GET", "message/view"): self.view,
        }
        for prefix, kind in (("message", "GROUP"), ("direct-message", "PERSON")):
            calls |= {
                ("POST", f"{prefix}/create"): lambda params, kind=kind: self.create(params, kind),  # type: ignore[misc]
                ("POST", f"{prefix}/update"): self.update,
                ("POST", f"{prefix}/delete"): self.delete,
                ("POST", f"{prefix}/add-reaction"): lambda params: self.react(params, True),
                ("POST", f"{prefix}/delete-reaction"): lambda params: self.react(params, False),
                ("GET", f"{prefix}/list"): lambda params, kind=kind: self.history(params, kind),  # type: ignore[misc]
            }
        return calls

    # --- messages

    async def create(self, params: Json, chat_type: str) -> Json:
        unknown = set(params) - CREATE_FIELDS
        if unknown:
            raise KookRefusal(40000, f"unknown parameters: {sorted(unknown)}")
        target = str(params.get("target_id") or "")
        self._world.find(self._world.channels if chat_type == "GROUP" else self._world.users, target)
        kind, content = params.get("type", 1), params.get("content")
        self._check(kind, content)
        fields: Json = {"nonce": str(params.get("nonce") or "")}
        if params.get("quote"):
            quoted = self._world.find(self._world.messages, params["quote"])
            author = self._world.users[quoted["author_id"]]
            fields["quote"] = {"id": "q", "rong_id": quoted["id"], "type": quoted["type"], "content": quoted["content"],
                               "author": author}  # fmt: skip
        if kind in MEDIA_KINDS:
            fields["attachments"] = {"url": content, "name": str(content).rpartition("/")[2].partition("-")[2]}
        message = self._world.write(chat_type, target, BOT_ID, kind, str(content), **fields)
        self._world.sent.append(SentKookMessage(message, target, [str(content)]))
        await self._gateway.dispatch(self._world.event(message))
        return {"msg_id": message["id"], "msg_timestamp": message["create_at"], "nonce": message["nonce"]}

    def _check(self, kind: Any, content: Any) -> None:
        if not isinstance(content, str) or not content.strip():
            raise KookRefusal(40000, "消息内容不能为空")
        if kind in TEXT_KINDS:
            if len(content) > MAX_TEXT:
                raise KookRefusal(40000, "消息内容过长")
        elif kind in MEDIA_KINDS:
            if content.rpartition("/")[2] not in self._world.assets:
                raise KookRefusal(40000, "资源地址不合法")
        elif kind == CARD:
            self._check_cards(content)
        else:
            raise KookRefusal(40000, "消息类型不合法")

    def _check_cards(self, content: str) -> None:
        try:
            cards = json.loads(content)
        except ValueError:
            raise KookRefusal(40000, "卡片消息格式错误") from None
        if not isinstance(cards, list) or not 1 <= len(cards) <= MAX_CARDS:
            raise KookRefusal(40000, "卡片数量不合法")
        modules = [module for card in cards for module in card.get("modules", ())]
        if any(card.get("type") != "card" for card in cards) or not 1 <= len(modules) <= MAX_MODULES:
            raise KookRefusal(40000, "卡片模块不合法")
        for module in modules:
            if module.get("type") == "action-group" and not 1 <= len(module.get("elements", ())) <= 4:
                raise KookRefusal(40000, "按钮数量不合法")

    async def update(self, params: Json) -> None:
        message = self._own(params)
        kind = message["type"]
        is_card = str(params.get("content") or "").startswith('[{"type":"card"')
        if kind not in (9, CARD) or is_card != (kind == CARD):
            raise KookRefusal(40000, "消息类型不支持修改")
        self._check(kind, params.get("content"))
        message["content"] = str(params["content"])
        if (sent := self._world.sent_message(message["id"])) is not None:
            sent.versions.append(message["content"])

    async def delete(self, params: Json) -> None:
        message = self._own(params)
        del self._world.messages[message["id"]]
        if (sent := self._world.sent_message(message["id"])) is not None:
            sent.deleted = True

    def _own(self, params: Json) -> Json:
        message = self._world.find(self._world.messages, params.get("msg_id"))
        if message["author_id"] != BOT_ID:
            raise KookRefusal(40300, "你没有权限")
        return message

    async def react(self, params: Json, add: bool) -> None:
        message = self._world.find(self._world.messages, params.get("msg_id"))
        if not params.get("emoji"):
            raise KookRefusal(40000, "emoji 不能为空")
        reaction = (message["id"], str(params["emoji"]))
        (self._world.reactions.add if add else self._world.reactions.discard)(reaction)

    async def history(self, params: Json, kind: str) -> Json:
        own = [each for each in self._world.messages.values() if each["chat"] == params.get("target_id")]
        return {"items": [self._shown(each) for each in own if each["chat_type"] == kind][-50:]}

    async def view(self, params: Json) -> Json:
        return self._shown(self._world.find(self._world.messages, params.get("msg_id")))

    def _shown(self, message: Json) -> Json:
        shown = {name: each for name, each in message.items() if name not in ("chat", "chat_type", "author_id")}
        return {**shown, "author": self._world.users[message["author_id"]]}

    # --- places and people

    async def index(self, params: Json) -> Json:
        return {"url": self._gateway.url(str(params.get("compress", "1")) == "1")}

    async def nothing(self, params: Json) -> None:
        return None

    async def me(self, params: Json) -> Json:
        return self._world.bot

    async def user(self, params: Json) -> Json:
        user = self._world.find(self._world.users, params.get("user_id"))
        return self._world.member(str(params["guild_id"]), user["id"]) if params.get("guild_id") else user

    async def channel(self, params: Json) -> Json:
        return self._world.find(self._world.channels, params.get("target_id"))

    async def rename(self, params: Json) -> Json:
        channel = self._world.find(self._world.channels, params.get("channel_id"))
        if not 1 <= len(str(params.get("name") or "")) <= 50:
            raise KookRefusal(40000, "频道名称不合法")
        channel["name"] = params["name"]
        return channel

    async def guild(self, params: Json) -> Json:
        return self._world.find(self._world.guilds, params.get("guild_id"))

    async def guilds(self, params: Json) -> Json:
        own = [each for each in self._world.guilds.values() if BOT_ID in self._world.members[each["id"]]]
        return _page(own, params)

    async def members(self, params: Json) -> Json:
        guild = await self.guild(params)
        ids = self._world.members[guild["id"]]
        page = _page([self._world.member(guild["id"], each) for each in ids], params)
        return {**page, "user_count": len(ids), "online_count": 1, "offline_count": 0}

    async def kick(self, params: Json) -> None:
        guild = await self.guild(params)
        self._world.member(guild["id"], str(params.get("target_id")))
        del self._world.members[guild["id"]][str(params["target_id"])]

    async def leave(self, params: Json) -> None:
        guild = await self.guild(params)
        self._world.members[guild["id"]].pop(BOT_ID)


def _page(items: list[Json], params: Json) -> Json:
    size, page = int(params.get("page_size") or 50), int(params.get("page") or 1)
    shown = items[(page - 1) * size : page * size]
    meta = {"page": page, "page_total": max(1, -(-len(items) // size)), "page_size": size, "total": len(items)}
    return {"items": shown, "meta": meta, "sort": {}}
