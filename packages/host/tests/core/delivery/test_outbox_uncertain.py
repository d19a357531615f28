"""No answer to a send: asked for, sent under the same key, or marked as possibly repeated; never an action twice."""

import pytest

from parlour.core.delivery.retry_policy import MAX_ATTEMPTS
from parlour.core.model.ports import SendReceipt, SendRefused

from ..support import PlatformSurface, settle
from .outbox_support import Post


async def test_what_the_platform_finds_is_sent_and_not_repeated() -> None:
    post = Post(surface=PlatformSurface(finds=SendReceipt("found-1")))
    post.surface.prepared.append(ConnectionResetError("cut"))
    await post.post("a")
    await post.done()
    assert len(post.surface.tries) == 1
    assert post.state("a")[0] == "sent"
    assert post.row("a")["platform_message_id"] == "found-1"


async def test_a_platform_that_takes_a_key_is_sent_the_same_row_again_unmarked() -> None:
    post = Post(surface=PlatformSurface(idempotent=True))
    post.surface.prepared.append(ConnectionResetError("cut"))
    await post.post("a")
    await post.done()
    assert [(each.outbox_id, each.possibly_repeated) for each in post.surface.tries] == [("a", False), ("a", False)]


async def test_a_text_is_otherwise_sent_once_more_and_marked() -> None:
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
async def test_a_platform_that_never_answers_is_given_up_on(idempotent: bool, tries: int) -> None:
    post = Post(surface=PlatformSurface(idempotent=idempotent))
    post.surface.prepared.extend(ConnectionResetError("cut") for _ in range(MAX_ATTEMPTS + 3))
    await post.post("a")
    await post.done()
    assert len(post.surface.tries) == tries
    assert post.state("a") == ("failed", "the platform never answered; it may have been sent")


async def test_an_answer_that_takes_too_long_is_uncertain() -> None:
    post = Post()
    post.surface.prepared.append(10_000.0)
    await post.post("a")
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [False, True]


@pytest.mark.parametrize("failure", [RuntimeError("a bug"), KeyError("message_id")], ids=["bug", "odd answer"])
async def test_an_adapter_that_fails_in_its_own_way_leaves_the_send_uncertain_and_blocks_nobody(
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


async def test_a_platform_that_can_not_be_asked_counts_as_one_that_does_not_know() -> None:
    class Mute(PlatformSurface):
        async def find(self, outgoing: object) -> None:
            raise RuntimeError("not there")

    post = Post(surface=Mute())
    post.surface.prepared.append(ConnectionResetError("cut"))
    await post.post("a")
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [False, True]


async def test_what_was_being_sent_when_the_host_died_is_uncertain() -> None:
    post = Post()
    await post.write("a", state="sending")
    await post.write("b", state="pending")
    post.handovers.record_start("a")
    await post.outbox.recover()
    await post.done()
    assert [(each.outbox_id, each.possibly_repeated) for each in post.surface.tries] == [("a", True), ("b", False)]
    assert len(post.surface.asked) == 1


@pytest.mark.parametrize("kind", ["message", "action"])
async def test_what_the_host_had_not_handed_over_when_it_died_is_sent_as_if_nothing_had_happened(kind: str) -> None:
    post = Post()
    await post.write("a", state="sending", kind=kind)
    await post.outbox.recover()
    await post.done()
    assert [(each.outbox_id, each.possibly_repeated) for each in post.surface.tries] == [("a", False)]
    assert post.surface.asked == []
    assert post.state("a") == ("sent", "")


@pytest.mark.parametrize("kind", ["message", "action"])
async def test_what_the_platform_had_answered_when_the_host_died_is_sent(kind: str) -> None:
    post = Post()
    await post.write("a", state="sending", kind=kind)
    post.handovers.record_start("a")
    post.handovers.record_acknowledgement("a", "platform-7")
    await post.outbox.recover()
    await post.done()
    assert post.surface.tries == post.surface.asked == []
    assert post.state("a") == ("sent", "")
    assert post.row("a")["platform_message_id"] == "platform-7"


async def test_what_was_tried_before_is_uncertain_whatever_is_noted_of_its_last_try() -> None:
    post = Post()
    await post.write("a", state="sending", attempts=1)
    await post.outbox.recover()
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [True]


async def test_without_notes_all_that_was_being_sent_is_uncertain() -> None:
    post = Post()
    await post.write("a", state="sending")
    post.handovers.lose()
    await post.outbox.recover()
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [True]


async def test_what_has_ended_leaves_no_note() -> None:
    post = Post()
    post.surface.prepared.extend([ConnectionResetError("cut"), SendRefused("the chat is gone", permanent=True)])
    for name in ("a", "b"):
        await post.post(name)
    await post.done()
    assert [post.state(each)[0] for each in ("a", "b")] == ["failed", "sent"]
    assert not post.handovers.was_started("a")
    assert not post.handovers.was_started("b")


async def test_an_action_that_was_being_sent_when_the_host_died_is_not_repeated() -> None:
    post = Post()
    await post.write("a", state="sending", kind="action")
    post.handovers.record_start("a")
    await post.outbox.recover()
    await post.done()
    assert post.surface.tries == []
    assert post.state("a")[0] == "failed"


async def test_rows_of_other_surfaces_and_finished_rows_are_left_alone_at_a_start() -> None:
    post = Post()
    for name, state in (("a", "sent"), ("b", "failed"), ("c", "expired"), ("d", "streaming")):
        await post.write(name, state=state)
    await post.write("e", state="pending", surface="webui")
    await post.outbox.recover()
    await post.done()
    assert post.surface.tries == []


async def test_a_row_that_waited_for_its_retry_still_waits_after_a_restart() -> None:
    post = Post()
    row = await post.write("a", not_before=1_800_000_060_000)
    assert row.not_before
    await post.outbox.recover()
    await settle()
    assert post.surface.tries == []
    await post.done()
    assert post.state("a")[0] == "sent"


async def test_a_sent_row_whose_end_can_not_be_written_is_not_sent_again() -> None:
    post = Post()
    post.journal.broken["outbox.sent"] = 3
    await post.post("a")
    await post.done()
    assert len(post.surface.tries) == 1
    assert post.state("a")[0] == "sent"


async def test_a_row_that_can_not_be_marked_as_sending_is_not_sent_until_it_can() -> None:
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
async def test_a_row_that_was_marked_as_sending_though_that_was_said_to_fail_is_sent_unmarked(kind: str) -> None:
    post = Post()
    await post.write("a", kind=kind)
    post.journal.unsure["outbox.sending"] = 1
    await post.outbox.recover()
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [False]
    assert post.state("a") == ("sent", "")


async def test_a_refusal_that_could_not_be_written_leaves_nothing_uncertain() -> None:
    post = Post()
    post.surface.prepared.append(SendRefused("too much", retry_after=1))
    post.journal.broken["outbox.pending"] = 1
    await post.post("a", kind="action")
    await post.done()
    assert [each.possibly_repeated for each in post.surface.tries] == [False, False]
    assert post.state("a") == ("sent", "")


async def test_a_sent_row_whose_end_was_written_though_that_was_said_to_fail_holds_nobody_up() -> None:
    post = Post()
    post.journal.unsure["outbox.sent"] = 1
    ended = post.outbox.watch("a")
    await post.post("a")
    await post.post("b")
    await post.done()
    assert [each.outbox_id for each in post.surface.tries] == ["a", "b"]
    assert (await ended).state == "sent"
    assert [post.state(each)[0] for each in ("a", "b")] == ["sent", "sent"]
