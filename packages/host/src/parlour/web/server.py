"""The server that carries the interface and the page."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import uvicorn

from parlour.config import Settings
from parlour.host import Host
from parlour.http.page.serving import PageServing

from .interface import interface
from .joining import JoiningProtocol
from .sockets import SocketProtocol

CLOSE_SECONDS = 1
"""How long open connections may take to end after the Host has stopped."""
PAGE = Path(__file__).parents[1] / "page"


class Server(uvicorn.Server):
    """Signals are the Host's: it has more to end than connections."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def server(settings: Settings, host: Host, setup_token: str = "") -> Server:
    config = uvicorn.Config(
        PageServing(interface(settings, host, setup_token).serve, PAGE),
        http=JoiningProtocol,
        ws=SocketProtocol,
        ws_max_size=settings.http.chat_frame_bytes,
        ws_per_message_deflate=False,
        lifespan="off",
        proxy_headers=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )
    return Server(config)
