"""A message that is shown only when it is complete, because its chat can show no unfinished text."""

from parlour.core.delivery.targets import ChatTarget
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendReceipt

from .streamed_message import StreamContext


class UnstreamedMessage:
    """Takes the place of a stream where the platform streams in other chats only."""

    def __init__(self, context: StreamContext, row: OutboxRow) -> None:
        self._context = context
        self._row = row
        self._chat = ChatTarget(row)

    @property
    def rows(self) -> list[OutboxRow]:
        return [self._row]

    @property
    def shown_text(self) -> str:
        return ""

    def append_delta(self, text: str) -> None:
        """Does nothing: the message is composed when it is complete."""

    def stop(self) -> None:
        """Does nothing: nothing is under way."""

    async def stop_adding_rows(self) -> None:
        """Does nothing: there is only one row."""

    async def is_fully_shown(self, row: OutboxRow) -> bool:
        return False

    async def finish(self, row: OutboxRow) -> SendReceipt:
        return await self._chat.send_row(self._chat.api(self._context.bots), row, self._context.languages)

    def adopt_message(self, row: OutboxRow, message_id: str) -> bool:
        """Returns False: a message that is found is complete."""
        return False

    async def retract(self, row: OutboxRow) -> None:
        """Does nothing: nothing is shown."""
