"""Converts a chain into a mail: texts with an HTML form, files in their places, and the headers of an answer."""

import re
import time
from email.errors import MessageError
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formataddr, formatdate

from parlour.core.delivery.rendering.html import to_html
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.outgoing_files import Fetch, OutgoingFile, read_file
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    Forward,
    Media,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Unknown,
)
from parlour_sdk.values import dataclass

from . import headers
from .configuration import NAME, EmailSettings
from .decode import MailFacts
from .headers import MARKER

MAX_FILE_BYTES = 20 * 1024 * 1024
MAX_TOTAL_BYTES = 20 * 1024 * 1024
MAX_REFERENCES = 20
MAX_SUBJECT_CHARACTERS = 60
HTML_STYLE = "font-family: sans-serif; white-space: pre-wrap"


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """The content of a mail before it has recipients: texts and files in order, the answered mail, and a subject."""

    parts: tuple[str | OutgoingFile, ...]
    quote: str
    subject: str

    @property
    def default_subject(self) -> str:
        """The beginning of the text, for a mail that begins a thread."""
        text = " ".join(" ".join(each for each in self.parts if isinstance(each, str)).split())
        short = text[:MAX_SUBJECT_CHARACTERS]
        return short if len(text) <= MAX_SUBJECT_CHARACTERS else f"{short.rsplit(' ', 1)[0]}…"


async def read_chain(chain: MessageChain, fetch: Fetch) -> OutgoingMail:
    """Reads a chain with its files. Raises PlatformRefused if nothing can be sent or the files are too large."""
    parts: list[str | OutgoingFile] = []
    quote = subject = ""
    for component in chain:
        match component:
            case Quote():
                quote = component.id or quote
            case Platform(platform=platform, component_type="mail", data=data) if platform == NAME:
                subject = " ".join(str(data.get("subject") or "").split())
            case Media() if not component.url:
                parts.append(await read_file(component, fetch, MAX_FILE_BYTES, "mail"))
            case _:
                text = component_text(component)
                if parts and isinstance(parts[-1], str):
                    parts[-1] += text
                else:
                    parts.append(text)
    shown = tuple(each for each in parts if not isinstance(each, str) or each.strip())
    if not shown:
        raise PlatformRefused("there is nothing in this message that a mail could show", permanent=True)
    total = sum(len(each.data) for each in shown if isinstance(each, OutgoingFile))
    if total > MAX_TOTAL_BYTES:
        raise PlatformRefused(
            f"the files have {total / 2**20:.1f} MiB together, and a mail takes {MAX_TOTAL_BYTES // 2**20} MiB",
            permanent=True,
        )
    return OutgoingMail(shown, quote, subject)


def component_text(component: Component) -> str:
    """Returns a component as text."""
    match component:
        case Plain() | Unknown():
            return component.text
        case At():
            return f"@{component.display or component.target}"
        case AtAll():
            return "@all"
        case Face():
            return f"[{component.name or component.id}]"
        case Media():
            return component.url or ""
        case Forward():
            nodes = [(node.name or node.sender or "?", node.chain) for node in component.nodes]
            return "".join(f"{name}: {''.join(map(component_text, chain))}\n" for name, chain in nodes)
        case Platform():
            return component.text or f"[{component.component_type}]"
    return ""


def compose(
    mail: OutgoingMail,
    settings: EmailSettings,
    message_id: str,
    recipients: tuple[str, ...],
    answered: MailFacts | None,
) -> bytes:
    """Returns the whole mail. Raises PlatformRefused if a header is impossible."""
    message = _body(mail.parts)
    parents = [mail.quote] if mail.quote else [answered.message_id] if answered is not None else []
    references = list(answered.references) if answered is not None else []
    references = [*(each for each in references if each not in parents), *parents]
    if len(references) > MAX_REFERENCES:
        references = [references[0], *references[-(MAX_REFERENCES - 1) :]]
    subject = mail.subject or mail.default_subject
    if answered is not None and not mail.subject:
        subject = headers.reply_subject(answered.subject)
    fields = {
        "From": formataddr((settings.name, settings.address)) if settings.name else settings.address,
        "To": ", ".join(recipients),
        "Subject": subject,
        "Date": formatdate(time.time()),
        "Message-ID": f"<{message_id}>",
        "In-Reply-To": " ".join(f"<{each}>" for each in parents),
        "References": " ".join(f"<{each}>" for each in references),
        "Auto-Submitted": "auto-replied" if answered is not None else "auto-generated",
        MARKER: "1",
    }
    try:
        for name, value in fields.items():
            if value:
                message[name] = value
        return message.as_bytes()
    except (ValueError, MessageError, IndexError):
        raise PlatformRefused("an address or the subject can't be written into a mail", permanent=True) from None


def _body(parts: tuple[str | OutgoingFile, ...]) -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    if len(parts) == 1 and isinstance(parts[0], str):
        _set_text(message, parts[0])
        return message
    message.make_mixed()
    for part in parts:
        piece = EmailMessage(policy=SMTP)
        if isinstance(part, str):
            _set_text(piece, part)
        else:
            _set_file(piece, part)
        message.attach(piece)
    return message


def _set_text(part: EmailMessage, text: str) -> None:
    """Sets a text with its Markdown as HTML; programs without HTML show the text itself."""
    shown = re.sub(r"[\ud800-\udfff\0]", "\ufffd", text)
    part.set_content(shown if shown.endswith("\n") else f"{shown}\n", cte="quoted-printable")
    part.add_alternative(f'<div style="{HTML_STYLE}">{to_html(shown)}</div>\n', subtype="html", cte="quoted-printable")


def _set_file(part: EmailMessage, file: OutgoingFile) -> None:
    main, _, sub = file.mime_type.partition(";")[0].strip().partition("/")
    if not sub or main in ("text", "message", "multipart"):
        main, sub = "application", "octet-stream"
    disposition = "inline" if main == "image" else "attachment"
    part.set_content(file.data, maintype=main, subtype=sub, disposition=disposition, filename=file.name)
