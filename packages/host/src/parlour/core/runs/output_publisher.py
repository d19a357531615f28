"""Publishes a run's messages: adds their rows to the current batch, and the publication to the steps after its commit.

A message that is streamed has its outbox row, in state `streaming`, before its first delta is published.
"""

from functools import partial

from parlour.core.delivery.composer import Delivery, Fragment
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.outbox_row import Outgoing
from parlour.core.model.ports import Ids
from parlour.core.store import outbox_rows, transcript

from .attachments import Carried
from .deltas import Deltas
from .result_batch import Step
from .session import RunSession


class Showing:
    """Publishes the messages, deltas and reasoning of one run."""

    def __init__(self, session: RunSession, delivery: Delivery, deltas: Deltas, ids: Ids) -> None:
        self._session = session
        self._delivery = delivery
        self._deltas = deltas
        self._ids = ids
        self._policy = DeliveryPolicy.decode(session.binding.agent.delivery_policy)
        self._streams = delivery.streams(session.event, self._policy)
        self._stream_row: Outgoing | None = None
        self._grown_before: list[Outgoing] = []
        """Rows under which a previous process of the Host streamed the message. It is not streamed further, but
        completed there.
        """
        self._resumed = False
        self.messages = 0

    async def resume(self, messages: int) -> None:
        """Continues a run of a previous process of the Host."""
        self.messages = messages
        self._resumed = True
        self._grown_before = await self._delivery.grown_before(self._session.event, self._session.run_id)
        self._streams = self._streams and not self._grown_before

    @property
    def begun(self) -> bool:
        """True if a message may be partly shown."""
        return self._stream_row is not None or self._resumed

    async def message(self, step: Step, carried: Carried) -> None:
        """Adds a completed message to the batch: transcript item, artifacts and outbox rows."""
        session, message = self._session, carried.message
        step.draft.add(*(artifact.insert() for artifact in carried.made))
        transcript.add_reply_item(
            step.draft,
            self._ids.new(),
            session.event,
            session.run_id,
            "message",
            message,
            carried.text,
            step.now,
            carried.refs,
        )
        self._fragment(step)
        grown = self._grown_before or await self._delivery.settle(self._stream_row)
        self._grown_before = []
        composed = self._delivery.complete(
            session.event, session.run_id, message, self._policy, not self.messages, grown
        )
        self._stream_row = None
        step.draft.add(*composed.statements)
        self._delivery.responded(step.draft, composed.rows)
        step.rows += composed.rows
        step.then.append(partial(self._delivery.committed, composed.rows))
        self._deltas.message_completed()
        self.messages += 1
        session.shown = True

    def growth(self, step: Step) -> None:
        """Publishes the new deltas of a message that is not complete yet."""
        if not self._streams:
            self._deltas.take_unshown()
        elif self._deltas.unshown:
            if self._stream_row is None:
                self._stream_row = self._open(step)
            self._fragment(step)

    def thoughts(self, step: Step, thoughts: str) -> None:
        """Publishes reasoning while it is streamed; the part that is stored comes with the message."""
        if thoughts and self._streams:
            event, run_id, seq = self._session.event, self._session.run_id, self._delivery.feed.stamp()
            step.then.append(partial(self._delivery.think, event, run_id, thoughts, seq))

    def over(self) -> None:
        """Aborts the stream of a message that was not completed."""
        self._delivery.broken(self._stream_row)

    def _open(self, step: Step) -> Outgoing:
        session = self._session
        row = self._delivery.open_stream(session.event, session.run_id, self._policy)
        step.draft.name = "run.stream"
        step.draft.add(outbox_rows.put(row))
        session.shown = True
        return row

    def _fragment(self, step: Step) -> None:
        """Numbers the pending deltas before the message that they belong to, because frames are sent in the order of
        their numbers.
        """
        text = self._deltas.take_unshown()
        if text and self._streams:
            fragment = Fragment(text, self._delivery.feed.stamp(), first_message=not self.messages)
            event, run_id, row = self._session.event, self._session.run_id, self._stream_row
            step.then.append(partial(self._delivery.grow, event, run_id, row, fragment, self._policy))
