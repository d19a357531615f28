"""One connection to a server of a protocol of lines, such as IMAP, SMTP and IRC: TLS, time-outs and limits.

Errors become those of the platform port. A message names the service, never what was sent: it may be a password.
"""

import asyncio
import os
import ssl
from dataclasses import field
from typing import Literal

from parlour.core.platforms.port import AdapterStopped, PlatformUncertain
from parlour.network.http_session import connection_error_reason
from parlour_sdk.values import dataclass

from .unreachable import PlatformUnreachable

Security = Literal["tls", "starttls", "none"]
CONNECT_TIMEOUT_SECONDS = 20.0
ANSWER_TIMEOUT_SECONDS = 30.0
WRONG_CERTIFICATE = "certificate: PEM text is expected, with the certificate and its private key without a passphrase"
MAX_LINE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server listens, and how its connections are protected."""

    host: str
    port: int
    security: Security = "tls"
    certificate: str = field(default="", repr=False)
    """The client's certificate and its private key as PEM, for a server that asks for one."""


class NoAnswer(PlatformUncertain):
    """Raised when nothing came in time on a connection that is still open."""


class LineConnection:
    """An open connection. `service` is its name in messages."""

    def __init__(
        self, service: str, address: ServerAddress, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._service = service
        self._address = address
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, service: str, address: ServerAddress) -> "LineConnection":
        """Connects, with TLS from the start if the address says so. Raises PlatformUnreachable, and AdapterStopped if
        the certificate can't be used.
        """
        context = _tls_context(address.certificate) if address.security == "tls" else None
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
                reader, writer = await asyncio.open_connection(
                    address.host, address.port, ssl=context, limit=MAX_LINE_BYTES
                )
        except (OSError, TimeoutError) as error:
            raise PlatformUnreachable(service, connection_error_reason(error)) from None
        return cls(service, address, reader, writer)

    async def start_tls(self) -> None:
        """Protects the open connection with TLS. Raises PlatformUnreachable."""
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
                await self._writer.start_tls(ssl.create_default_context(), server_hostname=self._address.host)
        except (OSError, TimeoutError) as error:
            raise PlatformUnreachable(self._service, connection_error_reason(error)) from None

    async def read_line(self, seconds: float = ANSWER_TIMEOUT_SECONDS) -> bytes:
        """Returns the next line without its end. Raises NoAnswer, or PlatformUncertain if none can come."""
        try:
            async with asyncio.timeout(seconds):
                line = await self._reader.readuntil(b"\n")
        except TimeoutError:
            raise NoAnswer(f"{self._service} did not answer in time") from None
        except asyncio.LimitOverrunError:
            raise PlatformUncertain(f"{self._service} sent a line that is too long") from None
        except (asyncio.IncompleteReadError, OSError):
            raise self._ended() from None
        return line.rstrip(b"\r\n")

    async def read_bytes(self, count: int, seconds: float = ANSWER_TIMEOUT_SECONDS) -> bytes:
        """Returns exactly this many bytes. Raises PlatformUncertain if they do not come."""
        try:
            async with asyncio.timeout(seconds):
                return await self._reader.readexactly(count)
        except TimeoutError:
            raise PlatformUncertain(f"{self._service} did not answer in time") from None
        except (asyncio.IncompleteReadError, OSError):
            raise self._ended() from None

    async def send(self, data: bytes) -> None:
        """Sends bytes as they are. Raises PlatformUncertain if the connection ends or takes nothing."""
        try:
            self._writer.write(data)
            async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
                await self._writer.drain()
        except TimeoutError:
            raise PlatformUncertain(f"{self._service} did not answer in time") from None
        except OSError:
            raise self._ended() from None

    def close(self) -> None:
        self._writer.close()

    def _ended(self) -> PlatformUncertain:
        return PlatformUncertain(f"the connection to {self._service} ended")


def _tls_context(certificate: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if certificate:
        file = os.memfd_create("certificate")  # the library reads files only, and the key must not be in one
        try:
            os.write(file, certificate.encode())
            context.load_cert_chain(f"/proc/self/fd/{file}")
        except (ssl.SSLError, ValueError):
            raise AdapterStopped(WRONG_CERTIFICATE) from None
        finally:
            os.close(file)
    return context
