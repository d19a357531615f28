"""The Web API calls of the simulated Slack, by name."""

import json
import mimetypes
from collections.abc import Awaitable, Callable
from typing import Any

from .forms import check_content, read_list
from .world import BOT_ID, BOT_USER, TEAM, Json, SentSlackMessage, SlackRefusal, SlackWorld

Report = Callable[[Json], Awaitable[None]]
EMOJIS = {"+1", "-1", "thumbsup", "tada", "wave", "eyes", "heart", "fire", "rocket", "white_check_mark"}
MAX_REACTIONS = 23


class SlackCalls:
    def __init__(self, world: SlackWorld, report: Report) -> None:
        self._world = world
        self._report = report
        self.address = ""
        self._uploads: dict[str, Json] = {}

    def find(self, method: str) -> Callable[[Json], Awaitable[Json]]:
        name = method.replace(".", "_")
        return getattr(self, f"call_{name}")  # type: ignore[no-any-return]

    # --- messages

    async def call_chat_postMessage(self, params: Json) -> Json:  # noqa: N802
        channel_id = self._writable(str(params.get("channel")))
        blocks = check_content(params)
        fields: Json = {"blocks": blocks} if blocks else {}
        if params.get("thread_ts"):
            if (channel_id, params["thread_ts"]) not in self._world.messages:
                raise SlackRefusal("thread_not_found")
            fields["thread_ts"] = params["thread_ts"]
        if params.get("metadata"):
            fields["metadata"] = json.loads(params["metadata"])
        message = self._world.write(channel_id, BOT_USER, str(params.get("text") or "").strip(), **fields)
        self._world.sent.append(SentSlackMessage(message, channel_id, [message["text"]]))
        await self._report(message)
        return {"channel": channel_id, "ts": message["ts"], "message": message}

    async def call_chat_update(self, params: Json) -> Json:
        message = self._own(params, "cant_update_message")
        blocks = check_content(params)
        before = dict(message)
        message.update({"text": str(params.get("text") or "").strip(), "blocks": blocks})
        message["edited"] = {"user": BOT_USER, "ts": self._world.time()}
        if (sent := self._world.sent_message(message["ts"])) is not None:
            sent.versions.append(message["text"])
        change = {"subtype": "message_changed", "hidden": True, "message": dict(message), "previous_message": before}
        await self._report(self._change(message, change))
        return {"channel": message["channel"], "ts": message["ts"], "text": message["text"]}

    async def call_chat_delete(self, params: Json) -> Json:
        message = self._own(params, "cant_delete_message")
        del self._world.messages[message["channel"], message["ts"]]
        if (sent := self._world.sent_message(message["ts"])) is not None:
            sent.deleted = True
        change = {"subtype": "message_deleted", "deleted_ts": message["ts"], "previous_message": message}
        await self._report(self._change(message, change))
        return {"channel": message["channel"], "ts": message["ts"]}

    def _change(self, message: Json, change: Json) -> Json:
        moment = self._world.time()
        place = {name: message[name] for name in ("channel", "channel_type")}
        return {"type": "message", "ts": moment, "event_ts": moment, **place, **change}

    def _own(self, params: Json, refusal: str) -> Json:
        message = self._world.message(str(params.get("channel")), str(params.get("ts")))
        if message["user"] != BOT_USER:
            raise SlackRefusal(refusal)
        return message

    def _writable(self, channel_id: str) -> str:
        channel = self._world.channel(channel_id)
        if channel["is_archived"]:
            raise SlackRefusal("is_archived")
        if BOT_USER not in self._world.members[channel_id]:
            raise SlackRefusal("not_in_channel")
        return channel_id

    async def call_chat_getPermalink(self, params: Json) -> Json:  # noqa: N802
        message = self._world.message(str(params.get("channel")), str(params.get("message_ts")))
        moment = message["ts"].replace(".", "")
        return {
            "channel": message["channel"],
            "permalink": f"https://w.slack.com/archives/{message['channel']}/p{moment}",
        }

    async def call_conversations_history(self, params: Json) -> Json:
        channel_id = str(params.get("channel"))
        self._world.channel(channel_id)
        return self._listed([each for each in self._in(channel_id) if self._in_channel(each)], params)

    async def call_conversations_replies(self, params: Json) -> Json:
        channel_id, thread = str(params.get("channel")), params.get("ts")
        found = [each for each in self._in(channel_id) if thread in (each["ts"], each.get("thread_ts"))]
        if not found:
            raise SlackRefusal("thread_not_found")
        if thread != found[0].get("thread_ts", thread):
            found = [each for each in self._in(channel_id) if each.get("thread_ts") == found[0]["thread_ts"]]
        return self._listed(found, params)

    def _in(self, channel_id: str) -> list[Json]:
        return [each for (channel, _), each in self._world.messages.items() if channel == channel_id]

    def _in_channel(self, message: Json) -> bool:
        return bool(message.get("thread_ts", message["ts"]) == message["ts"])

    def _listed(self, messages: list[Json], params: Json) -> Json:
        limit = int(params.get("limit") or 100)
        if not 1 <= limit <= 999:
            raise SlackRefusal("invalid_limit")
        oldest, latest = str(params.get("oldest") or "0"), str(params.get("latest") or "9")
        within = [each for each in messages if oldest <= each["ts"] <= latest]
        shown = [dict(each) for each in reversed(within)][:limit]
        if params.get("include_all_metadata") != "true":
            for each in shown:
                each.pop("metadata", None)
        return {"messages": shown, "has_more": len(within) > limit}

    async def call_reactions_add(self, params: Json) -> Json:
        return await self._react(params, True)

    async def call_reactions_remove(self, params: Json) -> Json:
        return await self._react(params, False)

    async def _react(self, params: Json, add: bool) -> Json:
        message = self._world.message(str(params.get("channel")), str(params.get("timestamp")))
        name = str(params.get("name"))
        if name not in EMOJIS:
            raise SlackRefusal("invalid_name")
        reaction = (message["ts"], name, BOT_USER)
        if add == (reaction in self._world.reactions):
            raise SlackRefusal("already_reacted" if add else "no_reaction")
        if add and len([each for each in self._world.reactions if each[0] == message["ts"]]) >= MAX_REACTIONS:
            raise SlackRefusal("too_many_reactions")
        (self._world.reactions.add if add else self._world.reactions.discard)(reaction)
        return {}

    # --- files

    async def call_files_getUploadURLExternal(self, params: Json) -> Json:  # noqa: N802
        if not params.get("filename") or not str(params.get("length", "")).isdecimal() or int(params["length"]) < 1:
            raise SlackRefusal("invalid_arguments")
        file_id = f"F{self._world.number():08}"
        self._uploads[file_id] = {"name": params["filename"], "length": int(params["length"]), "data": None}
        return {"upload_url": f"{self.address}/upload/{file_id}", "file_id": file_id}

    def receive_upload(self, file_id: str, data: bytes) -> None:
        upload = self._uploads.get(file_id)
        if upload is None or upload["data"] is not None or len(data) != upload["length"]:
            raise SlackRefusal("invalid_upload")
        upload["data"] = data

    async def call_files_completeUploadExternal(self, params: Json) -> Json:  # noqa: N802
        channel_id = self._writable(str(params.get("channel_id")))
        known = [self._uploaded(str(each.get("id"))) for each in read_list(params.get("files"), "files")]
        if not known:
            raise SlackRefusal("invalid_arguments")
        fields: Json = {"files": known, "subtype": "file_share"}
        if params.get("thread_ts"):
            fields["thread_ts"] = params["thread_ts"]
        message = self._world.write(channel_id, BOT_USER, str(params.get("initial_comment") or ""), **fields)
        contents = [self._world.files[each["id"]] for each in known]
        self._world.sent.append(SentSlackMessage(message, channel_id, [message["text"]], files=contents))
        await self._report(message)
        return {"files": [{"id": each["id"], "title": each["name"]} for each in known]}

    def _uploaded(self, file_id: str) -> Json:
        upload = self._uploads.pop(file_id, None)
        if upload is None or upload["data"] is None:
            raise SlackRefusal("file_not_found")
        return self.add_file(upload["name"], upload["data"], file_id)

    def add_file(self, name: str, data: bytes, file_id: str = "", mime_type: str = "") -> Json:

        file_id = file_id or f"F{self._world.number():08}"
        self._world.files[file_id] = data
        url = f"{self.address}/files-pri/{file_id}/download/{name}"
        kind = mime_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
        return {
            "id": file_id, "name": name, "title": name, "mimetype": kind, "filetype": name.rpartition(".")[2],
            "size": len(data), "url_private": url, "url_private_download": url, "permalink": url,
        }  # fmt: skip

    # --- channels and users

    async def call_auth_test(self, params: Json) -> Json:
        return {"url": "https://w.slack.com/", "team": "W", "user": "parlour", "team_id": TEAM, "user_id": BOT_USER,
                "bot_id": BOT_ID, "is_enterprise_install": False}  # fmt: skip

    async def call_conversations_open(self, params: Json) -> Json:
        return {"channel": {"id": self._world.direct_channel(str(params.get("users")))}, "already_open": False}

    async def call_conversations_info(self, params: Json) -> Json:
        channel = self._world.channel(str(params.get("channel")))
        count = {"num_members": len(self._world.members[channel["id"]])}
        return {"channel": {**channel, **(count if params.get("include_num_members") == "true" else {})}}

    async def call_conversations_members(self, params: Json) -> Json:
        self._world.channel(str(params.get("channel")))
        return self._page(self._world.members[str(params["channel"])], "members", params)

    async def call_users_conversations(self, params: Json) -> Json:
        own = [each for each in self._world.channels.values() if BOT_USER in self._world.members[each["id"]]]
        return self._page([each for each in own if not each.get("is_im")], "channels", params)

    def _page(self, items: list[Any], name: str, params: Json) -> Json:
        first, limit = int(params.get("cursor") or 0), int(params.get("limit") or 100)
        following = str(first + limit) if first + limit < len(items) else ""
        return {name: items[first : first + limit], "response_metadata": {"next_cursor": following}}

    async def call_conversations_rename(self, params: Json) -> Json:
        channel, name = self._world.channel(str(params.get("channel"))), str(params.get("name") or "")
        if not name or len(name) > 80 or name != name.lower() or " " in name:
            raise SlackRefusal("invalid_name_specials")
        if any(each.get("name") == name for each in self._world.channels.values() if each is not channel):
            raise SlackRefusal("name_taken")
        channel["name"] = name
        return {"channel": channel}

    async def call_conversations_kick(self, params: Json) -> Json:
        channel, user = self._world.channel(str(params.get("channel"))), params.get("user")
        if user == BOT_USER:
            raise SlackRefusal("cant_kick_self")
        if user not in self._world.members[channel["id"]]:
            raise SlackRefusal("not_in_channel")
        self._world.members[channel["id"]].remove(user)
        return {}

    async def call_conversations_leave(self, params: Json) -> Json:
        channel = self._world.channel(str(params.get("channel")))
        self._world.members[channel["id"]].remove(BOT_USER)
        return {}

    async def call_users_info(self, params: Json) -> Json:
        if params.get("user") not in self._world.users:
            raise SlackRefusal("user_not_found")
        return {"user": self._world.users[params["user"]]}

    async def call_files_info(self, params: Json) -> Json:
        raise SlackRefusal("file_not_found")
