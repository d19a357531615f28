"""A send without an acknowledgement is looked up, sent with the same key, or marked; an action is never repeated."""

import pytest

from parlour.core.delivery.retry_policy import MAX_ATTEMPTS
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendReceipt, SendRefused

from ..support import PlatformSurface, settle
from .outbox_support import Post


async def test_message_found_on_the_platform_is_not_repeated() -> None:
    post = Post(surface=PlatformSurface(finds=SendReceipt("found-1")))
    post.surface.prepared.append(ConnectionResetError("cut"))
    await post.post("a")
    await post.done()
    assert len(post.surface.tries) == 1
    assert post.state("a")[0] == "sent"
    assert post.row("a")["platform_message_id"] == "found-1"


async def test_idempotent_platform_gets_the_row_again_without_note() -> None:
    post = Post(surface=PlatformSurface(idempotent=True))
    post.surface.prepared.append(ConnectionResetError("cut"))
    await post.post("a")
    await post.done()
    assert [(each.outbox_id, each.possibly_repeated) for each in post.surface.tries] == [("a", False), ("a", False)]


async def test_unacknowledged_text_is_sent_once_more_with_note() -> None:
    post = Post()
    post.surface.prepared.append(ConnectionResetError("cut"))
    await post.post("a")
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [False, True]
    assert post.row("a")["possibly_repeated"] == 1


async def test_an_action_is_never_repeated() -> None:
    post = Post(surface=PlatformSurface(idempotent=True))
    post.surface.prepared.append(ConnectionResetError("cut"))
    await post.post("a", kind="action")
    await post.done()
    assert len(post.surface.tries) == 1
    assert post.state("a") == ("failed", "it may or may not have happened and is never repeated")


@pytest.mark.parametrize(("idempotent", "tries"), [(True, MAX_ATTEMPTS), (False, 2)], ids=["with a key", "once more"])
async def test_row_is_failed_if_the_platform_never_answers(idempotent: bool, tries: int) -> None:
    post = Post(surface=PlatformSurface(idempotent=idempotent))
    post.surface.prepared.extend(ConnectionResetError("cut") for _ in range(MAX_ATTEMPTS + 3))
    await post.post("a")
    await post.done()
    assert len(post.surface.tries) == tries
    assert post.state("a") == ("failed", "the platform never answered; it may have been sent")


async def test_late_answer_is_uncertain() -> None:
    post = Post()
    post.surface.prepared.append(10_000.0)
    await post.post("a")
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [False, True]


@pytest.mark.parametrize("failure", [RuntimeError("a bug"), KeyError("message_id")], ids=["bug", "odd answer"])
async def test_adapter_exception_is_uncertain_and_does_not_block_the_next_row(
    failure: Exception,
) -> None:
    post = Post()
    post.surface.prepared.append(failure)
    await post.post("a")
    await post.post("b")
    await post.done()
    assert [(each.outbox_id, each.possibly_repeated) for each in post.surface.tries] == [
        ("a", False),
        ("a", True),
        ("b", False),
    ]


async def test_failed_lookup_counts_as_not_found() -> None:
    class FailingLookup(PlatformSurface):
        async def find_sent(self, outgoing: OutboxRow) -> SendReceipt | None:
            await super().find_sent(outgoing)
            raise RuntimeError("not there")

    post = Post(surface=FailingLookup())
    post.surface.prepared.append(ConnectionResetError("cut"))
    await post.post("a")
    await post.done()
    assert len(post.surface.lookups) == 1
    assert [each.possibly_repeated for each in post.surface.tries] == [False, True]


async def test_started_send_is_uncertain_after_a_crash() -> None:
    post = Post()
    await post.write("a", state="sending")
    await post.write("b", state="pending")
    post.send_log.record_start("a")
    await post.outbox.recover()
    await post.done()
    assert [(each.outbox_id, each.possibly_repeated) for each in post.surface.tries] == [("a", True), ("b", False)]
    assert len(post.surface.lookups) == 1


@pytest.mark.parametrize("kind", ["message", "action"])
async def test_send_that_had_not_started_is_sent_normally_after_a_crash(kind: str) -> None:
    post = Post()
    await post.write("a", state="sending", kind=kind)
    await post.outbox.recover()
    await post.done()
    assert [(each.outbox_id, each.possibly_repeated) for each in post.surface.tries] == [("a", False)]
    assert post.surface.lookups == []
    assert post.state("a") == ("sent", "")


@pytest.mark.parametrize("kind", ["message", "action"])
async def test_acknowledged_send_is_recorded_as_sent_after_a_crash(kind: str) -> None:
    post = Post()
    await post.write("a", state="sending", kind=kind)
    post.send_log.record_start("a")
    post.send_log.record_acknowledgement("a", "platform-7")
    await post.outbox.recover()
    await post.done()
    assert post.surface.tries == post.surface.lookups == []
    assert post.state("a") == ("sent", "")
    assert post.row("a")["platform_message_id"] == "platform-7"


async def test_earlier_attempt_makes_a_send_uncertain_after_a_crash() -> None:
    post = Post()
    await post.write("a", state="sending", attempts=1)
    await post.outbox.recover()
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [True]


async def test_all_sends_are_uncertain_without_a_send_log() -> None:
    post = Post()
    await post.write("a", state="sending")
    post.send_log.lose()
    await post.outbox.recover()
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [True]


async def test_finished_rows_leave_no_entry_in_the_send_log() -> None:
    post = Post()
    post.surface.prepared.extend([ConnectionResetError("cut"), SendRefused("the chat is gone", permanent=True)])
    for name in ("a", "b"):
        await post.post(name)
    await post.done()
    assert [post.state(each)[0] for each in ("a", "b")] == ["failed", "sent"]
    assert not post.send_log.was_started("a")
    assert not post.send_log.was_started("b")


async def test_started_action_is_not_repeated_after_a_crash() -> None:
    post = Post()
    await post.write("a", state="sending", kind="action")
    post.send_log.record_start("a")
    await post.outbox.recover()
    await post.done()
    assert post.surface.tries == []
    assert post.state("a")[0] == "failed"


async def test_finished_rows_and_other_surfaces_are_ignored_at_start() -> None:
    post = Post()
    for name, state in (("a", "sent"), ("b", "failed"), ("c", "expired"), ("d", "streaming")):
        await post.write(name, state=state)
    await post.write("e", state="pending", surface="webui")
    await post.outbox.recover()
    await post.done()
    assert post.surface.tries == []


async def test_row_keeps_its_retry_time_after_a_restart() -> None:
    post = Post()
    row = await post.write("a", not_before=1_800_000_060_000)
    assert row.not_before
    await post.outbox.recover()
    await settle()
    assert post.surface.tries == []
    await post.done()
    assert post.state("a")[0] == "sent"


async def test_sent_row_is_not_repeated_if_its_state_cannot_be_written() -> None:
    post = Post()
    post.journal.broken["outbox.sent"] = 3
    await post.post("a")
    await post.done()
    assert len(post.surface.tries) == 1
    assert post.state("a")[0] == "sent"


async def test_row_is_not_sent_before_its_sending_state_is_written() -> None:
    post = Post()
    await post.write("a")
    post.journal.broken["outbox.sending"] = 2
    await post.outbox.recover()
    await settle()
    assert post.surface.tries == []
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [False]
    assert post.state("a")[0] == "sent"


@pytest.mark.parametrize("kind", ["message", "action"])
async def test_row_is_sent_without_note_if_the_commit_of_sending_was_uncertain(kind: str) -> None:
    post = Post()
    await post.write("a", kind=kind)
    post.journal.unsure["outbox.sending"] = 1
    await post.outbox.recover()
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [False]
    assert post.state("a") == ("sent", "")


async def test_refusal_that_cannot_be_written_is_not_uncertain() -> None:
    post = Post()
    post.surface.prepared.append(SendRefused("too much", retry_after=1))
    post.journal.broken["outbox.pending"] = 1
    await post.post("a", kind="action")
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [False, False]
    assert post.state("a") == ("sent", "")


async def test_uncertain_commit_of_sent_does_not_block_the_next_row() -> None:
    post = Post()
    post.journal.unsure["outbox.sent"] = 1
    ended = post.outbox.watch("a")
    await post.post("a")
    await post.post("b")
    await post.done()
    assert [each.outbox_id for each in post.surface.tries] == ["a", "b"]
    assert (await ended).state == "sent"
    assert [post.state(each)[0] for each in ("a", "b")] == ["sent", "sent"]
