"""The folders of a simulated mail account, and the mails that were handed over to it."""

import itertools
import time
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from email.utils import getaddresses

BOT_ADDRESS = "bot@parlour.example"
USERNAME = "bot@parlour.example"
PASSWORD = "the secret password of the mailbox"
SENT = "Sent"


@dataclass
class StoredMail:
    """A mail in a folder."""

    uid: int
    content: bytes
    received_at: float
    flags: set[str] = field(default_factory=set)

    @property
    def message(self) -> Message:
        return BytesParser(policy=compat32).parsebytes(self.content)


@dataclass
class SimulatedFolder:
    """A folder; its mails keep their UIDs as long as its validity stays the same."""

    validity: int
    mails: list[StoredMail] = field(default_factory=list)
    next_uid: int = 1

    def add(self, content: bytes, received_at: float = 0.0, flags: set[str] | None = None) -> StoredMail:
        mail = StoredMail(self.next_uid, content, received_at or time.time(), flags or set())
        self.next_uid += 1
        self.mails.append(mail)
        return mail

    def renumber(self) -> None:
        """Gives all mails other UIDs, as a server does that was restored from a backup."""
        self.validity += 1
        self.next_uid = 1
        for mail in self.mails:
            mail.uid = self.next_uid
            self.next_uid += 1


@dataclass
class SentMail:
    """A mail that the submission server accepted."""

    sender: str
    recipients: list[str]
    content: bytes
    deleted: bool = False

    @property
    def message(self) -> Message:
        return BytesParser(policy=compat32).parsebytes(self.content)

    @property
    def message_id(self) -> str:
        return str(self.message["Message-ID"]).strip("<>")

    @property
    def chat(self) -> str:
        return ",".join(sorted(self.recipients))

    @property
    def text(self) -> str:
        """The plain text as a mail program shows it."""
        texts = [part for part in self.message.walk() if part.get_content_type() == "text/plain"]
        shown = [part.get_payload(decode=True) for part in texts if part.get_content_disposition() != "attachment"]
        text = "".join(each.decode("utf-8", "replace") for each in shown if isinstance(each, bytes))
        return text.replace("\r\n", "\n").strip()


class MailWorld:
    def __init__(self) -> None:
        self.folders = {"INBOX": SimulatedFolder(1000), SENT: SimulatedFolder(1)}
        self.sent: list[SentMail] = []
        self._numbers = itertools.count(1)

    @property
    def inbox(self) -> SimulatedFolder:
        return self.folders["INBOX"]

    def number(self) -> int:
        return next(self._numbers)


def address_texts(message: Message, name: str) -> str:
    return " ".join(address for _, address in getaddresses([str(each) for each in message.get_all(name, [])]))
