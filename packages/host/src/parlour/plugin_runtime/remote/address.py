"""Opens connections to the standalone runtime. Retries are up to the callers."""

from collections.abc import Callable
from pathlib import Path

from parlour.core.redaction import Redactor
from parlour_sdk.values import dataclass
from parlour_sdk.wire import WireError, WireLimits
from parlour_sdk.wire.websocket import WebSocketTransport, connect

OPEN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class RuntimeAddress:
    """Address and token of the standalone runtime."""

    url: str
    token: Callable[[], str]
    silence_seconds: float
    """Seconds without data after which the other side counts as gone."""

    async def open(self, path: str, limits: WireLimits) -> WebSocketTransport:
        """Opens a connection. Raises WireError with a message for the operator."""
        token = self.token()
        url = self.url.rstrip("/") + path
        seconds = min(OPEN_SECONDS, self.silence_seconds)
        return await connect(url, token, limits, patience=self.silence_seconds, timeout=seconds)


def read_token(file: Path, redactor: Redactor) -> str:
    """Returns the token, and registers it as a secret.

    The file is read each time, so that it can be replaced while the Host runs.
    """
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise WireError("unauthorized", f"the file {file} that holds its token can't be read ({error})") from error
    if not token:
        raise WireError("unauthorized", f"the file {file} that should hold its token is empty")
    redactor.add_secret(token)
    return token
