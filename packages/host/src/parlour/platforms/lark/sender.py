"""Sends messages and files to chats of Lark, and remembers of which kind each sent message is."""

from urllib.parse import quote

from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.http_client import Upload
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour_sdk.values import dataclass

from .client import LarkTenantClient
from .encode import AUDIO, FILE, IMAGE, MEDIA, LarkMessage
from .entities import USER_PREFIX

KEY_LENGTH = 40
_FILE_TYPES = {
    ".pdf": "pdf",
    ".doc": "doc",
    ".docx": "doc",
    ".xls": "xls",
    ".xlsx": "xls",
    ".ppt": "ppt",
    ".pptx": "ppt",
}


@dataclass(frozen=True, slots=True)
class LarkTarget:
    """Where a message is sent: a chat, or as an answer to a message, also in its thread."""

    chat_id: str
    reply_to: str = ""
    in_thread: bool = False


class LarkSender:
    """Sends what was encoded."""

    def __init__(self, client: LarkTenantClient) -> None:
        self._client = client
        self.kinds: BoundedMap[str, str] = BoundedMap()
        """Kinds of the bot's own messages, by message id."""

    async def send(self, target: LarkTarget, message: LarkMessage, key: str | None, place: int = 0) -> Payload:
        """Sends a message, once under the same key and place within an hour. Returns it as Lark describes it."""
        if message.file is not None and not message.content.get("image_key", message.content.get("file_key")):
            message.content = await self._upload(message)
        sent = await self.post(target, message.kind, message.payload(), key, place)
        # under a key that was used before, Lark returns the earlier message, which may be of another kind
        self.kinds.set(text(sent, "message_id"), text(sent, "msg_type") or message.kind)
        return sent

    async def post(self, target: LarkTarget, kind: str, content: str, key: str | None, place: int = 0) -> Payload:
        body: Payload = {"msg_type": kind, "content": content}
        if key is not None:
            body["uuid"] = short_key(f"{key}:{place}", KEY_LENGTH)
        if target.reply_to:
            path = f"im/v1/messages/{quote(target.reply_to, safe='')}/reply"
            answer = await self._client.call("POST", path, {**body, "reply_in_thread": target.in_thread})
        else:
            query: dict[str, str | int] = {"receive_id_type": id_type(target.chat_id)}
            answer = await self._client.call(
                "POST", "im/v1/messages", {"receive_id": target.chat_id, **body}, query=query
            )
        return object_in(answer, "data")

    async def _upload(self, message: LarkMessage) -> Payload:
        """Uploads the file of a message and returns the content that shows it."""
        file = message.file
        assert file is not None
        if message.kind == IMAGE:
            upload = Upload("image", file.data, file.name, file.mime_type)
            answer = await self._client.call("POST", "im/v1/images", form={"image_type": "message"}, uploads=(upload,))
            return {"image_key": text(object_in(answer, "data"), "image_key")}
        ending = file.name[file.name.rfind(".") :].lower() if "." in file.name else ""
        kind = {AUDIO: "opus", MEDIA: "mp4", FILE: _FILE_TYPES.get(ending, "stream")}[message.kind]
        form = {"file_type": kind, "file_name": file.name}
        if "duration" in message.content:
            form["duration"] = str(message.content["duration"])
        upload = Upload("file", file.data, file.name, file.mime_type)
        answer = await self._client.call("POST", "im/v1/files", form=form, uploads=(upload,))
        return {"file_key": text(object_in(answer, "data"), "file_key")}


def id_type(target_id: str) -> str:
    """Returns which kind of id a target is."""
    if target_id.startswith(USER_PREFIX):
        return "open_id"
    return "union_id" if target_id.startswith("on_") else "chat_id"
