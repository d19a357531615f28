"""Tracks up to which position a numbered stream of events is handled, while events are handled concurrently."""

from collections import deque
from dataclasses import field

from parlour_sdk.values import dataclass


@dataclass(slots=True)
class Ticket:
    """An event of the stream that is being handled."""

    position: int
    is_finished: bool = field(default=False, init=False)


class Watermark:
    """Knows the last position before which every event is handled. A stream that is resumed there loses nothing."""

    def __init__(self, position: int = 0) -> None:
        self.position = position
        self._open: deque[Ticket] = deque()

    def begin(self, position: int) -> Ticket:
        """Notes that an event is handled from now on. Positions are given in the order of the stream."""
        ticket = Ticket(position)
        self._open.append(ticket)
        return ticket

    def position_with(self, ticket: Ticket) -> int:
        """Returns the position that is reached if this event is handled now, to be stored together with it."""
        reached = self.position
        for each in self._open:
            if not (each.is_finished or each is ticket):
                break
            reached = each.position
        return reached

    def finish(self, ticket: Ticket) -> None:
        ticket.is_finished = True
        while self._open and self._open[0].is_finished:
            self.position = self._open.popleft().position
