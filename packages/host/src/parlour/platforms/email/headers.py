"""Reads the headers of a mail: texts, addresses, ids and times. A strange header never makes it fail."""

import hashlib
import re
from collections.abc import Iterable
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime

from parlour_sdk.values import dataclass

MAX_ID_CHARACTERS = 400
MAX_TEXT_CHARACTERS = 2000
MAX_ADDRESSES = 200
MAX_REFERENCES = 50
_ID = re.compile(r"<([^<>\s]+)>")
_REPLY = re.compile(r"\s*((re|fwd?|aw|wg|sv|vs|tr|antw|回复|答复|转发|回覆)\s*(\[\d+\])?\s*[:：]\s*)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """A mail address in lower case, with the name that was given with it."""

    address: str
    name: str = ""


def header(message: Message, name: str) -> str:
    """Returns the first header of this name, decoded and on one line; empty if there is none."""
    return decoded(str(message.get(name) or ""))


def decoded(value: str) -> str:
    """Decodes the encoded words of a header."""
    try:
        pieces = decode_header(value)
    except (MessageError, ValueError):
        pieces = [(value, None)]
    text = "".join(
        each if isinstance(each, str) else decode_bytes(each, charset or "utf-8") for each, charset in pieces
    )
    return " ".join(text.split())[:MAX_TEXT_CHARACTERS]


def decode_bytes(data: bytes, charset: str) -> str:
    """Decodes text; gb2312 usually is gb18030, and an unknown charset is read as UTF-8."""
    name = "gb18030" if charset.lower().replace("-", "").replace("_", "") in ("gb2312", "gbk") else charset
    try:
        return data.decode(name, "replace")
    except (LookupError, UnicodeError, ValueError):
        return data.decode("utf-8", "replace")


def addresses(message: Message, *names: str) -> list[Address]:
    """Returns the addresses of these headers in order, each once."""
    values = [str(each)[: MAX_TEXT_CHARACTERS * 10] for name in names for each in message.get_all(name, [])]
    found: dict[str, Address] = {}
    for display, address in getaddresses(values):
        plain = address.strip().lower()
        local, at, domain = plain.rpartition("@")
        if at and local and domain and plain not in found and not set(plain) & set(" \r\n\t<>,;"):
            found[plain] = Address(plain, decoded(display)[:200])
    return list(found.values())[:MAX_ADDRESSES]


def message_ids(message: Message, name: str) -> list[str]:
    """Returns the ids in a header without their angle brackets."""
    found = _ID.findall(" ".join(str(each) for each in message.get_all(name, [])))
    return [each[:MAX_ID_CHARACTERS] for each in found][-MAX_REFERENCES:]


def own_id(message: Message) -> str:
    """Returns the id of a mail; one without an id gets one that is the same for the same mail."""
    ids = message_ids(message, "Message-ID")
    if ids:
        return ids[0]
    facts = [str(message.get(name) or "") for name in ("Date", "From", "To", "Subject", "In-Reply-To", "Content-Type")]
    content = [str(part.get_payload())[:10_000] for part in message.walk() if not part.is_multipart()][:5]
    digest = hashlib.sha256("\0".join([*facts, *content]).encode(errors="replace")).hexdigest()[:32]
    return f"{digest}@without-id.invalid"


def sent_at(message: Message, received_at: int) -> int:
    """Returns the time of a mail in milliseconds: that of its sender, but no later than when the server received it."""
    try:
        moment = round(parsedate_to_datetime(str(message.get("Date") or "")).timestamp() * 1000)
    except (ValueError, TypeError, OverflowError, IndexError, OSError):
        return received_at
    return moment if 0 < moment <= (received_at or moment) else received_at


def is_reply_subject(subject: str) -> bool:
    return _REPLY.match(subject) is not None


def bare_subject(subject: str) -> str:
    """Returns a subject without the prefixes of replies and forwards."""
    return _REPLY.sub("", subject, count=1).strip()


def reply_subject(subject: str) -> str:
    return f"Re: {bare_subject(subject)}".strip()


def joined(found: Iterable[Address]) -> str:
    return ",".join(sorted(each.address for each in found))
