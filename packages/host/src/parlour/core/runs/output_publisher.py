"""Publishes a run's messages: adds their rows to the current batch, and the publication to the steps after its commit.

A message that is streamed has its outbox row, in state `streaming`, before its first delta is published.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from parlour.core.delivery.reply_hooks import ReplyDraft
from parlour.core.delivery.service import DeliveryService
from parlour.core.delivery.streaming.stream_publisher import StreamDelta
from parlour.core.delivery.targets import PLATFORM
from parlour.core.journal import GuardFailed, StorageFailed
from parlour.core.message_policy.filtered import filtered_output
from parlour.core.message_policy.long_texts import LongTextForm
from parlour.core.message_policy.outputs import FilteredReply, output_sentence
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.doors import LIVE_SURFACES
from parlour.core.model.ids import TranscriptId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Ids
from parlour.core.store import event_notes, outbox_rows, transcript

from .attachments import MessageWithFiles
from .completion import RunCompletion
from .delta_buffer import DeltaBuffer
from .result_batch import ResultBatch
from .session import RunSession


class OutputPublisher:
    """Publishes the messages, deltas and reasoning of one run."""

    def __init__(self, session: RunSession, delivery: DeliveryService, ids: Ids) -> None:
        self._session = session
        self._delivery = delivery
        self.deltas = DeltaBuffer()
        self._ids = ids
        agent = session.binding.agent
        self._policy = DeliveryPolicy.decode(agent.delivery_policy)
        self.rules = (
            delivery.output_policies.for_run(agent.message_policy, session.event) if agent.message_policy else None
        )
        """Rules of the agent's message policy; None if it has none."""
        if self.rules is not None:
            self._policy = self.rules.delivery_policy(self._policy)
        self._streams = delivery.composer.supports_streaming(session.event, self._policy)
        if self.rules is not None:
            self._streams = self._streams and self.rules.may_stream()
        self._masked: list[str] | None = None
        """Fragments of the current message as they were shown; None if they are the runner's own."""
        if self.rules is not None and self.rules.held_back is not None:
            self._masked = []
        self._is_hooked = delivery.reply_hooks.are_asked(session.binding)
        self._streams = self._streams and not self._is_hooked  # a plugin may replace the whole message
        self._stream_row: OutboxRow | None = None
        self._resumable_rows: list[OutboxRow] = []
        """Rows under which a previous process of the Host streamed the message. It is not streamed further, but
        completed there.
        """
        self._resumed = False
        self.message_count = 0
        self.was_stopped = False
        """True if a plugin stopped a message of the run."""

    def long_text_form(self) -> LongTextForm | None:
        """Returns the form in which long texts are sent; None if they stay text."""
        event = self._session.event
        if self.rules is None or event.envelope.surface != PLATFORM:
            return None
        return self.rules.long_text_form(partial(self._delivery.composer.can_send, event, self._policy))

    def note_filtered(self, result_batch: ResultBatch, filtered: FilteredReply) -> None:
        """Adds the note on the trail about a filtered reply to the batch, and the event for plugins."""
        data = {
            "text": output_sentence(filtered.hits, filtered.is_withheld),
            "code": "policy_withheld" if filtered.is_withheld else "policy_filtered_output",
            "rules": [hit.rule for hit in filtered.hits],
        }
        event, run_id = self._session.event, self._session.run_id
        result_batch.draft.add(event_notes.add_note(event.seq, "policy.output", data, result_batch.now))
        told = filtered_output(filtered.hits, filtered.is_withheld, run_id)
        self._delivery.filtered.add(result_batch.draft, event, told)
        result_batch.after_commit.append(self._delivery.filtered.after_commit)

    async def resume(self, messages: int) -> None:
        """Continues a run of a previous process of the Host."""
        self.message_count = messages
        self._resumed = True
        self._resumable_rows = await self._delivery.streaming.resumable_rows(self._session.event, self._session.run_id)
        self._streams = self._streams and not self._resumable_rows

    @property
    def is_streaming(self) -> bool:
        """True if a message may be partly shown."""
        return self._stream_row is not None or self._resumed

    async def prepare(self, message: dict[str, Any], text: str) -> Sequence[tuple[dict[str, Any], str]]:
        """Returns the messages that plugins make of one, each with its text; none if they stop it."""
        if not self._is_hooked:
            return [(message, text)]
        session = self._session
        draft = ReplyDraft(session.event, session.run_id, session.binding, message, text, session.entry.variables)
        prepared = await self._delivery.reply_hooks.prepare(draft)
        session.meter.record_event("hook.asked", {"event": "reply.preparing", "hooks": list(prepared.answers)})
        self.was_stopped = self.was_stopped or not prepared.messages
        return prepared.messages

    async def publish_message(self, result_batch: ResultBatch, reply: MessageWithFiles) -> None:
        """Adds a completed message to the batch: transcript item, artifacts and outbox rows."""
        session, message = self._session, reply.message
        result_batch.draft.add(*(artifact.insert() for artifact in reply.new_artifacts))
        transcript.add_reply_item(
            result_batch.draft,
            TranscriptId(self._ids.new()),
            session.event,
            session.run_id,
            "message",
            message,
            reply.text,
            result_batch.now,
            reply.refs,
        )
        self._fragment(result_batch, is_last=True)
        streamed_rows = self._resumable_rows or await self._delivery.streaming.stop_stream(self._stream_row)
        self._resumable_rows = []
        composed_reply = self._delivery.composer.compose_reply(
            session.event, session.run_id, message, self._policy, not self.message_count, streamed_rows
        )
        self._stream_row = None
        result_batch.draft.add(*composed_reply.statements)
        self._delivery.publisher.add_response_events(result_batch.draft, composed_reply.rows)
        self.publish_rows(result_batch, composed_reply.rows)
        self.deltas.message_completed()
        if self._masked:
            self._masked.clear()
        self.message_count += 1
        session.has_output = True

    def show_rest(self, result_batch: ResultBatch, is_retried: bool) -> None:
        """Shows the deltas that came together with the end of a run that did not complete.

        A platform shows nothing more, because its stream ends here. Nothing is shown of an attempt that is repeated and
        that users have not seen yet.
        """
        if self._is_live() and (self._stream_row is not None or not is_retried):
            self.publish_deltas(result_batch)

    def shown_text(self) -> str:
        """Returns what users have seen of a message that is not complete."""
        if self._stream_row is None:
            return self.deltas.incomplete_text() if self._resumable_rows and self._masked is None else ""
        if not self._is_live():
            return self._delivery.streaming.shown_text(self._stream_row)
        return self.deltas.incomplete_text() if self._masked is None else "".join(self._masked)

    def publish_deltas(self, result_batch: ResultBatch) -> None:
        """Publishes the new deltas of a message that is not complete yet."""
        if not self._streams:
            self.deltas.drain_unpublished()
        elif self.deltas.has_unpublished:
            if self._stream_row is None:
                self._stream_row = self._open(result_batch)
            self._fragment(result_batch)

    def publish_reasoning(self, result_batch: ResultBatch, reasoning: str) -> None:
        """Publishes reasoning while it is streamed; the part that is stored comes with the message."""
        if reasoning and self._streams:
            event, run_id, seq = self._session.event, self._session.run_id, self._delivery.feed.next_seq()
            result_batch.after_commit.append(
                partial(self._delivery.streaming.publish_reasoning, event, run_id, reasoning, seq)
            )

    def publish_tool_call(self, result_batch: ResultBatch, data: dict[str, Any], status: str) -> None:
        """Publishes the start or the end of a tool call after the commit."""
        feed, session = self._delivery.feed, self._session
        result_batch.after_commit.append(
            partial(
                feed.publish_tool_call, session.event.conversation_id, session.run_id, data, status, feed.next_seq()
            )
        )

    def publish_note(self, result_batch: ResultBatch, text: str) -> None:
        """Sends a short message of the Host about the run, such as that it uses a tool."""
        message = {"role": "assistant", "content": text, "metadata": {"policy": "tool_call"}}
        row = self._delivery.composer.compose_message(self._session.event, self._session.run_id, "message", message)
        result_batch.draft.add(outbox_rows.insert(row))
        self.publish_rows(result_batch, [row])

    def publish_rows(self, result_batch: ResultBatch, rows: list[OutboxRow]) -> None:
        """Publishes or enqueues rows of the batch after its commit."""
        result_batch.rows += rows
        result_batch.after_commit.append(partial(self._delivery.publisher.after_commit, rows))

    def discard(self, result_batch: ResultBatch, failure: GuardFailed | StorageFailed) -> None:
        """Releases the rows of a batch whose commit failed."""
        self._delivery.publisher.after_rollback(result_batch.rows, failure)

    def close(self, completion: RunCompletion) -> None:
        """Publishes the end of the run. The stream of a message that was not completed is aborted."""
        session = self._session
        self._delivery.streaming.abort_stream(self._stream_row)
        self._delivery.publisher.after_commit(completion.rows)
        self._delivery.publisher.run_ended(
            session.event.conversation_id, session.run_id, completion.status, completion.feed_seq
        )

    def _is_live(self) -> bool:
        """Returns whether clients of the Host itself get the deltas, at once."""
        return self._session.event.envelope.surface in LIVE_SURFACES

    def _open(self, result_batch: ResultBatch) -> OutboxRow:
        session = self._session
        row = self._delivery.composer.open_stream(session.event, session.run_id, self._policy)
        result_batch.draft.name = "run.stream"
        result_batch.draft.add(outbox_rows.insert(row))
        session.has_output = True
        return row

    def _fragment(self, result_batch: ResultBatch, is_last: bool = False) -> None:
        """Numbers the pending deltas before the message that they belong to, because frames are sent in the order of
        their numbers.
        """
        text = self.deltas.drain_unpublished()
        if self.rules is not None and self.rules.held_back is not None:
            held_back = self.rules.held_back
            text = held_back.add(text) + (held_back.finish() if is_last else "")
            if self._masked is not None:
                self._masked.append(text)
        if text and self._streams:
            fragment = StreamDelta(text, self._delivery.feed.next_seq(), first_message=not self.message_count)
            event, run_id, row = self._session.event, self._session.run_id, self._stream_row
            result_batch.after_commit.append(
                partial(self._delivery.streaming.publish_delta, event, run_id, row, fragment, self._policy)
            )
