"""The event log returns events exactly as recorded."""

from hypothesis import given
from hypothesis import strategies as st

from parlour.core.journal import Select, Unit
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.store import event_log
from parlour.core.store.event_log import MAX_SUMMARY_CHARACTERS
from parlour.core.store.tables import EVENTS
from parlour.testing import MemoryDatabase

words = st.text(max_size=6)
objects = st.dictionaries(words, st.none() | st.integers() | words | st.lists(words, max_size=2), max_size=3)
parties = st.builds(Participant, words, words, words, objects)
subjects = st.builds(Participant, words, words, st.just(""), objects)
envelopes = st.builds(
    EventEnvelope,
    event_id=words,
    event_type=words,
    source=words,
    chat=words,
    context=st.builds(EventContext, words, words, words),
    surface=words,
    workspace_id=words,
    bot_id=words,
    thread_id=words,
    agent_id=words,
    principal=words,
    event_time=st.integers(0, 2**50),
    source_event_type=words,
    actor=parties,
    subject=subjects,
    input=st.builds(lambda text, more: {**more, "text": text}, words, objects),
    data=objects,
    metadata=objects,
)


@given(envelopes)
def test_event_is_read_back_as_recorded(envelope: EventEnvelope) -> None:
    database = MemoryDatabase()
    database.commit(Unit("append", (event_log.append(envelope, "conversation", 1234),)))
    [row] = database.read(Select(EVENTS))
    restored = event_log.from_row(row)
    assert restored.envelope == envelope
    assert (restored.seq, restored.conversation_id, restored.created_at) == (1, "conversation", 1234)


def test_summary_is_limited_and_the_event_complete() -> None:
    text = "x" * (MAX_SUMMARY_CHARACTERS * 2)
    envelope = EventEnvelope("e", "message.received", "api", "", EventContext("e"), "api", input={"text": text})
    database = MemoryDatabase()
    database.commit(Unit("append", (event_log.append(envelope, "", 0),)))
    [row] = database.read(Select(EVENTS))
    assert len(row["input_summary"]) == MAX_SUMMARY_CHARACTERS
    assert event_log.from_row(row).envelope.text == text
