"""Converts the parts of a mail into components, in order: the own text, the quote, files, and forwarded mails."""

import base64
import re
from collections.abc import Iterator
from email.message import Message

from parlour.platforms._kit.payloads import UNREADABLE
from parlour_sdk.protocol.chain import Component, File, Forward, ForwardNode, Image, Plain, Unknown, Video, Voice
from parlour_sdk.values import dataclass

from . import headers
from .html_text import IMAGE_MARK, html_to_text

MAX_PARTS = 200
MAX_FORWARD_DEPTH = 3
_KINDS: dict[str, type[Image | Voice | Video | File]] = {"image": Image, "audio": Voice, "video": Video}
_MARKED = re.compile(f"{IMAGE_MARK}([^{IMAGE_MARK}]*){IMAGE_MARK}")
_ATTRIBUTION = re.compile(
    r"^\s*(on\b.{5,200}\bwrote|am\b.{5,200}\bschrieb\b.{0,100}|le\b.{5,200}\ba écrit|el\b.{5,200}\bescribió"
    r"|在.{3,200}写道|.{3,200}于.{3,100}写道|.{3,200}寫道)\s*[:：]\s*$",
    re.IGNORECASE | re.DOTALL,
)
_SEPARATOR = re.compile(
    r"^\s*(-{2,}\s*(original message|forwarded message|ursprüngliche nachricht|原始邮件|转发邮件|原郵件)\s*-{2,}"
    r"|_{20,}|begin forwarded message:|(发件人|寄件者)\s*[:：].*)\s*$",
    re.IGNORECASE,
)
_FORWARDED_HEADER = re.compile(r"^\s*\*?(from|von|de)\*?\s*:", re.IGNORECASE)
_SECOND_HEADER = re.compile(r"^\s*\*?(sent|date|to|gesendet|envoyé|datum)\*?\s*:", re.IGNORECASE)
_SIGNATURE = re.compile(r"\n-- ?\n")


def split_quote(text: str) -> tuple[str, str]:
    """Returns the author's own text and the quoted text. Without any own text, the whole text is the author's."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = _quote_start(lines)
    own, quoted = "\n".join(lines[:start]), "\n".join(lines[start:])
    own = _SIGNATURE.split(f"\n{own}\n", maxsplit=1)[0].strip()
    return (own, quoted.strip()) if own else (text.strip(), "")


def _quote_start(lines: list[str]) -> int:
    """Returns the index of the first line that belongs to the quote at the end."""
    for index, line in enumerate(lines):
        if _SEPARATOR.match(line) or _is_attribution(lines, index) or _is_forwarded_header(lines, index):
            return index
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith(">")):
        end -= 1
    return end


def _is_attribution(lines: list[str], index: int) -> bool:
    """Returns whether a line such as "On ... wrote:" begins here; mail programs wrap it."""
    if not lines[index].strip():
        return False
    return any(_ATTRIBUTION.match("\n".join(lines[index : index + count])) for count in (1, 2, 3))


def _is_forwarded_header(lines: list[str], index: int) -> bool:
    if not _FORWARDED_HEADER.match(lines[index]):
        return False
    return any(_SECOND_HEADER.match(line) for line in lines[index + 1 : index + 3])


@dataclass(frozen=True, slots=True)
class MailBody:
    """The content of a mail: its components without the quote, and the quoted text."""

    components: list[Component]
    quoted: str


def read_body(message: Message, is_cut: bool = False, depth: int = 0) -> MailBody:
    """Reads the content. `is_cut` says that the mail was too large, so that its last part is incomplete."""
    parts = list(_parts(message))[:MAX_PARTS]
    if is_cut and len(parts) > 1:
        parts.pop()
    pictures = {_content_id(each): each for each in parts if each.get_content_maintype() == "image"}
    pictures.pop("", None)
    own: list[tuple[Message, list[Component]]] = []
    used: set[str] = set()
    quoted = ""
    for part in parts:
        if _is_text(part):
            text, quote = split_quote(_text(part))
            quoted = quoted or quote
            own.append((part, _with_pictures(text, pictures, used)))
        else:
            own.append((part, []))
    components: list[Component] = []
    for part, shown in own:
        is_used = _content_id(part) in used and part.get_content_maintype() == "image"
        components += shown if _is_text(part) or is_used else [_attachment(part, depth)]
    if is_cut:
        components.append(Unknown(text="[the mail is too large; the rest of it was left out]"))
    return MailBody(components, quoted)


def _parts(message: Message) -> Iterator[Message]:
    """Yields the parts that are shown; of alternatives the plain text, or the HTML if there is none."""
    if message.get_content_type() == "message/rfc822" or not message.is_multipart():
        yield message
        return
    children = [each for each in message.get_payload() if isinstance(each, Message)]
    if message.get_content_subtype() != "alternative":
        for child in children:
            yield from _parts(child)
        return
    leaves = [leaf for child in children for leaf in _parts(child)]
    texts = [leaf for leaf in leaves if _is_text(leaf)]
    plain = [leaf for leaf in texts if leaf.get_content_subtype() != "html" and _text(leaf).strip()]
    chosen = (plain or texts)[:1]
    yield from chosen
    yield from (leaf for leaf in leaves if not _is_text(leaf) and leaf.get_content_type() != "text/calendar")


def _is_text(part: Message) -> bool:
    if part.get_content_type() not in ("text/plain", "text/html"):
        return False
    return part.get_content_disposition() != "attachment" and not _file_name(part)


def _text(part: Message) -> str:
    content = part.get_payload(decode=True)
    data = content if isinstance(content, bytes) else b""
    text = headers.decode_bytes(data, part.get_content_charset() or "utf-8")
    return html_to_text(text) if part.get_content_subtype() == "html" else text.replace(IMAGE_MARK, "")


def _with_pictures(text: str, pictures: dict[str, Message], used: set[str]) -> list[Component]:
    """Returns the text with the pictures that it shows in their places."""
    found: list[Component] = []
    for index, piece in enumerate(_MARKED.split(text)):
        if index % 2 and piece in pictures:
            used.add(piece)
            found.append(_file(pictures[piece]))
        elif not index % 2 and piece.strip():
            found.append(Plain(text=piece.strip("\n")))
    return found


def _attachment(part: Message, depth: int) -> Component:
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload()
        if isinstance(inner, list) and inner and isinstance(inner[0], Message):
            return _forward(inner[0], depth)
    return _file(part)


def _file(part: Message) -> Component:
    try:
        payload = part.get_payload(decode=True)
        content = payload if isinstance(payload, bytes) else part.as_bytes()
    except (*UNREADABLE, RecursionError):
        return Unknown(text="[an attachment that can't be read]")
    return _KINDS.get(part.get_content_maintype(), File)(
        base64=base64.b64encode(content).decode(),
        name=_file_name(part) or None,
        size=len(content),
        mime_type=part.get_content_type(),
    )


def _forward(mail: Message, depth: int) -> Component:
    if depth >= MAX_FORWARD_DEPTH:
        return Unknown(text="[a forwarded mail]")
    author = next(iter(headers.addresses(mail, "From")), headers.Address(""))
    subject = headers.header(mail, "Subject")
    title: list[Component] = [Plain(text=f"{subject}\n")] if subject else []
    node = ForwardNode(
        sender=author.address or None,
        name=author.name or None,
        message_id=next(iter(headers.message_ids(mail, "Message-ID")), None),
        chain=[*title, *read_body(mail, depth=depth + 1).components],
    )
    return Forward(nodes=[node])


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename() or ""
    except (*UNREADABLE, LookupError):
        return ""
    return headers.decoded(str(name)).replace("/", "_").replace("\\", "_")[:200]


def _content_id(part: Message) -> str:
    return str(part.get("Content-ID") or "").strip().strip("<>")
