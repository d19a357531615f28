"""Recognizes mails of machines (RFC 3834), reports of failed deliveries, and senders whose address is proven."""

import re
from email.message import Message

from parlour_sdk.values import dataclass

from . import headers
from .headers import Address

MARKER = "X-Parlour-Bot"
"""Header of all mails of this adapter; one that carries it comes from a bot."""
_MACHINE_NAMES = re.compile(r"(mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?)([+.\-].*)?", re.IGNORECASE)
_RESULT = re.compile(r"\b(dmarc|dkim|spf)\s*=\s*([a-z]+)([^;]*)", re.IGNORECASE)
_PROPERTY = re.compile(
    r"\b(header\.d|header\.i|header\.from|smtp\.mailfrom|smtp\.helo)\s*=\s*\"?([^\s;\"]+)", re.IGNORECASE
)
_COMMENT = re.compile(r"\([^()]*\)")
MAX_RESULTS = 20


def machine_reason(message: Message, sender: str) -> str:
    """Returns why a mail counts as automatic; empty if a person wrote it."""
    values = {name: headers.header(message, name).lower() for name in ("Auto-Submitted", "Precedence", "Return-Path")}
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
                    fields |= {name.lower(): headers.decoded(str(value)) for name, value in block.items()}
        elif kind in ("message/rfc822", "text/rfc822-headers") and not message_id:
            inner = part.get_payload()
            if isinstance(inner, list) and inner and isinstance(inner[0], Message):
                message_id = next(iter(headers.message_ids(inner[0], "Message-ID")), "")
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
