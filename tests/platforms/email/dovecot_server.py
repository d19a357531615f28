"""Runs Dovecot, a real IMAP server, from the distribution's packages, which are unpacked and installed nowhere."""

import asyncio
import imaplib
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.harness import ROOT

FOLDER = ROOT / ".tools" / "dovecot"
PACKAGES = (
    "dovecot-core", "dovecot-imapd", "libexttextcat-2.0-0", "libexttextcat-data", "libicu72", "liblua5.3-0",
    "libsodium23", "libstemmer0d",
)  # fmt: skip
PASSWORD = "the-secret-of-dovecot"
USER_ID = 8
"""Dovecot delivers no mail as root."""
START_SECONDS = 20.0
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
LOADER = "/lib64/ld-linux-x86-64.so.2"
CONFIGURATION = """
protocols = imap
listen = 127.0.0.1
base_dir = /data/run
log_path = /dev/stderr
ssl = no
disable_plaintext_auth = no
default_internal_user = root
default_internal_group = root
default_login_user = nobody
first_valid_uid = 1
mail_location = maildir:/data/mail
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={user} gid={user} home=/data/mail
}}
namespace inbox {{
  inbox = yes
  mailbox "Gesendete Mails" {{
    auto = subscribe
    special_use = \\Sent
  }}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
"""


class DovecotServer:
    """A running Dovecot with one account."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port

    def deliver(self, mail: bytes) -> None:
        """Stores a mail in the inbox, as a delivery agent does."""
        client = imaplib.IMAP4("127.0.0.1", self.port, timeout=START_SECONDS)
        client.login("bot", PASSWORD)
        status, _ = client.append("INBOX", "", "", mail)  # type: ignore[arg-type]
        client.logout()
        assert status == "OK"

    def renumber(self) -> None:
        """Makes the server give its mails other UIDs, as after the loss of its index."""
        for file in (self.folder / "mail").glob("dovecot*"):
            file.unlink()


@asynccontextmanager
async def dovecot(folder: Path) -> AsyncIterator[DovecotServer]:
    """Starts Dovecot with its data in a folder, and stops it at the end."""
    server, process = await asyncio.to_thread(_start, folder)
    try:
        yield server
    finally:
        process.kill()
        await asyncio.to_thread(process.wait, START_SECONDS)


def _start(folder: Path) -> tuple[DovecotServer, "subprocess.Popen[bytes]"]:
    subprocess.run([ROOT / "tools" / "debian_packages.sh", FOLDER, "dovecot", *PACKAGES], check=True)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    (folder / "run").mkdir()
    (folder / "mail").mkdir()
    os.chown(folder / "mail", USER_ID, USER_ID)
    folder.chmod(0o755)
    (folder / "dovecot.conf").write_text(CONFIGURATION.format(password=PASSWORD, user=USER_ID, port=port))
    (folder / "passwd").write_text("root:x:0:0::/:/bin/false\nnobody:x:65534:65534::/:/bin/false\n")
    (folder / "group").write_text("root:x:0:\nnogroup:x:65534:\n")
    arguments = [
        _bubblewrap(), "--bind", FOLDER, "/", "--ro-bind", LIBRARIES, "/lib/x86_64-linux-gnu",
        "--ro-bind", LOADER, LOADER, "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", folder, "/data",
        "--ro-bind", folder / "passwd", "/etc/passwd", "--ro-bind", folder / "group", "/etc/group",
        "--unshare-pid", "--die-with-parent", "/usr/sbin/dovecot", "-F", "-c", "/data/dovecot.conf",
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(arguments, stdout=log, stderr=log)
    try:
        _wait_until_ready(port, folder / "log")
    except BaseException:
        process.kill()
        raise
    return DovecotServer(folder, port), process


def _bubblewrap() -> Path:
    own = ROOT / ".tools" / "bubblewrap" / "usr" / "bin" / "bwrap"
    return own if own.exists() else Path("bwrap")


def _wait_until_ready(port: int, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            client = imaplib.IMAP4("127.0.0.1", port, timeout=START_SECONDS)
            client.login("bot", PASSWORD)
            client.logout()
            return
        except (OSError, imaplib.IMAP4.error):
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
