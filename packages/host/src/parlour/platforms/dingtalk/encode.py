"""Converts chains into messages of DingTalk's robots."""

import re
from pathlib import PurePath

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.outgoing_files import Fetch
from parlour.platforms._kit.payloads import Payload
from parlour.platforms._kit.wechat_content import MIB, FileRule, SendProfile, WechatPart, encode_parts
from parlour_sdk.protocol.chain import MessageChain, Voice

from .entities import NAME, SERVICE

FILES = {
    "Image": FileRule("image", ("image/jpeg", "image/png", "image/gif", "image/bmp"), 20 * MIB),
    "Voice": FileRule("voice", ("audio/amr", "audio/ogg", "audio/mpeg", "audio/wav"), 2 * MIB),
    "File": FileRule("file"),
}
PROFILE = SendProfile(SERVICE, NAME, FILES)
MAX_TITLE_CHARACTERS = 32
DEFAULT_MILLISECONDS = 1000
"""Length that is shown for voice whose length is not known; DingTalk requires one."""
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")


async def encode(chain: MessageChain, fetch: Fetch) -> list[WechatPart]:
    """Encodes a chain into messages, in order."""
    parts = await encode_parts(chain, fetch, PROFILE)
    lengths = [component.duration or 0 for component in chain if isinstance(component, Voice) and not component.url]
    for part in parts:
        if part.kind == "voice":
            part.own["milliseconds"] = round(lengths.pop(0) * 1000) or DEFAULT_MILLISECONDS
    return parts


def title(content: str) -> str:
    """Returns the line that DingTalk shows in the list of chats."""
    first = next((line.strip("#*>` -") for line in content.splitlines() if line.strip("#*>` -")), content)
    return first[:MAX_TITLE_CHARACTERS] or SERVICE


def markdown(content: str) -> str:
    """Returns Markdown whose single line breaks DingTalk shows."""
    return _LINE_BREAK.sub("  \n", content)


def text_message(content: str, is_markdown: bool) -> tuple[str, Payload]:
    """Returns the kind of a text and its parameters."""
    if is_markdown:
        return "sampleMarkdown", {"title": title(content), "text": markdown(content)}
    return "sampleText", {"content": content}


def file_message(part: WechatPart, media_id: str) -> tuple[str, Payload]:
    """Returns the kind of a file and its parameters."""
    assert part.file is not None
    match part.kind:
        case "image":
            return "sampleImageMsg", {"photoURL": media_id}
        case "voice":
            return "sampleAudio", {"mediaId": media_id, "duration": str(part.own["milliseconds"])}
    ending = PurePath(part.file.name).suffix.removeprefix(".") or "bin"
    return "sampleFile", {"mediaId": media_id, "fileName": part.file.name, "fileType": ending}


def session_body(part: WechatPart, is_markdown: bool) -> Payload:
    """Returns a text for the address of a session. Raises PlatformRefused for anything else."""
    if not part.is_text:
        raise PlatformRefused(f"{SERVICE} takes only texts for people outside the company", permanent=True)
    if is_markdown:
        return {"msgtype": "markdown", "markdown": {"title": title(part.text), "text": markdown(part.text)}}
    return {"msgtype": "text", "text": {"content": part.text}}


def robot_body(robot_code: str, kind: str, params: Payload) -> Payload:
    return {"robotCode": robot_code, "msgKey": kind, "msgParam": dumps(params)}
