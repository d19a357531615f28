"""The port through which a peer sends and receives frames. Transports carry bytes and don't know their content."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

OnFrame: TypeAlias = Callable[[bytes], None]
OnClosed: TypeAlias = Callable[[BaseException | None], None]


class Transport(Protocol):
    """Carries whole frames in both directions, in order, until one side closes.

    Received frames wait until `start`. After `pause` no frame is delivered until `resume`; frames that were sent before
    the other side closed are delivered before `on_closed`. Waiting frames are not buffered without limit: they congest
    the other side. `on_closed` is called once, with None for a regular end; after `close` no callback is called.
    """

    def start(self, on_frame: OnFrame, on_closed: OnClosed) -> None: ...

    def send(self, frame: bytes) -> None:
        """Sends a frame; never blocks or raises. The frame is buffered, or dropped if the connection is closed."""

    @property
    def congested(self) -> bool:
        """True if the write buffer exceeds the high-water mark because the other side reads too slowly."""
        ...

    async def drain(self) -> None:
        """Waits until the transport is not congested, or is closed."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def close(self, refusal: str = "") -> None:
        """Closes the connection; buffered frames are still sent if the other side reads them soon. Idempotent.

        `refusal` is a reason for the other side, sent by transports that can carry one.
        """
