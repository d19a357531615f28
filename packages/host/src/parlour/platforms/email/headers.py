"""Reads the headers of a mail, and what they prove: its sender, and whether a machine sent it (RFC 3834).

A strange header never makes it fail.
"""

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
MARKER = "X-Parlour-Bot"
"""Header of all mails of this adapter; one that carries it comes from a bot."""
_MACHINE_NAMES = re.compile(r"(mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?)([+.\-].*)?", re.IGNORECASE)
_RESULT = re.compile(r"\b(dmarc|dkim|spf)\s*=\s*([a-z]+)([^;]*)", re.IGNORECASE)
_PROPERTY = re.compile(
    r"\b(header\.d|header\.i|header\.from|smtp\.mailfrom|smtp\.helo)\s*=\s*\"?([^\s;\"]+)", re.IGNORECASE
)
_COMMENT = re.compile(r"\([^()]*\)")
MAX_RESULTS = 20


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


def machine_reason(message: Message, sender: str) -> str:
    """Returns why a mail counts as automatic; empty if a person wrote it."""
    values = {name: header(message, name).lower() for name in ("Auto-Submitted", "Precedence", "Return-Path")}
    if message.get(MARKER) is not None or message.get("X-Loop") is not None:
        return "another bot sent it"
    if values["Auto-Submitted"].partition(";")[0].strip() not in ("", "no"):
        return "it says that it was sent automatically"
    if values["Precedence"] in ("bulk", "list", "junk", "auto_reply"):
        return "it was sent in bulk"
    if message.get("X-Auto-Response-Suppress") is not None or message.get("X-Autoreply") is not None:
        return "it asks for no automatic answer"
    if any(message.get(name) is not None for name in ("List-Id", "List-Unsubscribe", "List-Post")):
        return "it came through a mailing list"
    if values["Return-Path"] == "<>" or message.get_content_type() == "multipart/report":
        return "it is a report of a mail server"
    if _MACHINE_NAMES.fullmatch(sender.partition("@")[0]):
        return "its sender is a machine"
    return ""


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """What a mail server reports about a mail that it could not deliver."""

    message_id: str
    recipient: str
    status: str
    diagnostic: str


def failed_delivery(message: Message) -> FailedDelivery | None:
    """Reads a report of a failed delivery; None if the mail is no such report."""
    if message.get_content_type() != "multipart/report":
        return None
    fields: dict[str, str] = {}
    message_id = ""
    for part in message.walk():
        kind = part.get_content_type()
        if kind == "message/delivery-status" and isinstance(part.get_payload(), list):
            for block in part.get_payload():
                if isinstance(block, Message):
                    fields |= {name.lower(): decoded(str(value)) for name, value in block.items()}
        elif kind in ("message/rfc822", "text/rfc822-headers") and not message_id:
            inner = part.get_payload()
            if isinstance(inner, list) and inner and isinstance(inner[0], Message):
                message_id = next(iter(message_ids(inner[0], "Message-ID")), "")
            elif isinstance(inner, str):
                found = re.search(r"^message-id:\s*<([^<>\s]+)>", inner, re.IGNORECASE | re.MULTILINE)
                message_id = found[1] if found else ""
    if fields.get("action", "failed").lower() != "failed" or "status" not in fields:
        return None
    recipient = fields.get("final-recipient", fields.get("original-recipient", "")).rpartition(";")[2].strip()
    diagnostic = fields.get("diagnostic-code", "").partition(";")[2].strip() or fields.get("diagnostic-code", "")
    original = fields.get("original-message-id", "").strip("<> ") or message_id
    return FailedDelivery(original, recipient.lower(), fields["status"], diagnostic[:500])


def authentication(message: Message, authserv_id: str) -> dict[str, str]:
    """Returns the results of DMARC, DKIM and SPF that the bot's own mail server noted; none without its name.

    Only its topmost header counts: a sender can write such headers too, but those are below.
    """
    if not authserv_id:
        return {}
    for value in message.get_all("Authentication-Results", [])[:MAX_RESULTS]:
        server, _, results = _COMMENT.sub(" ", str(value)).partition(";")
        if server.split() and server.split()[0].lower() == authserv_id:
            return _results(results)
    return {}


def _results(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for method, result, properties in _RESULT.findall(text):
        name = method.lower()
        if found.get(name) == "pass":
            continue  # a mail may have several signatures; one that is right is enough
        found[name] = result.lower()
        found |= {each.lower(): value.lower() for each, value in _PROPERTY.findall(properties)}
    return found


def is_proven(results: dict[str, str], sender: Address) -> bool:
    """Returns whether the results prove the address in From: by DMARC, or by DKIM or SPF for the same domain."""
    domain = sender.address.rpartition("@")[2]
    if results.get("dmarc") == "pass":
        return results.get("header.from", domain).rpartition("@")[2] == domain
    signer = results.get("header.d") or results.get("header.i", "").rpartition("@")[2]
    envelope = results.get("smtp.mailfrom", "").rpartition("@")[2]
    by_signature = results.get("dkim") == "pass" and _is_same_organisation(domain, signer)
    by_address = results.get("spf") == "pass" and _is_same_organisation(domain, envelope)
    return by_signature or by_address


def _is_same_organisation(domain: str, other: str) -> bool:
    """Compares strictly, apart from subdomains of the domain that signed."""
    return bool(other) and (domain == other or domain.endswith(f".{other}")) and "." in other
