"""The port between a peer and whatever carries its frames. Transports know bytes; frames' contents are the peer's."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

OnFrame: TypeAlias = Callable[[bytes], None]
OnClosed: TypeAlias = Callable[[BaseException | None], None]


class Transport(Protocol):
    """Carries whole frames both ways, in order, until one side closes.

    Frames of the other side wait until `start`. After `pause` no frame is handed over until `resume`; what was sent
    before the other side closed is handed over before `on_closed`. What waits isn't hoarded: it congests the other
    side. `on_closed` is called once, with None for a regular end; after `close` neither callback is called any more.
    """

    def start(self, on_frame: OnFrame, on_closed: OnClosed) -> None: ...

    def send(self, frame: bytes) -> None:
        """Never blocks and never raises: the frame is buffered, or dropped when the connection is gone."""

    @property
    def congested(self) -> bool:
        """Whether more is buffered than the high-water mark, because the other side reads too slowly."""
        ...

    async def drain(self) -> None:
        """Return when the transport isn't congested, or is closed."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def close(self, refusal: str = "") -> None:
        """Idempotent. What is buffered still goes out if the other side reads it soon.

        `refusal` is the reason that the other side is given, by transports that can carry one.
        """
