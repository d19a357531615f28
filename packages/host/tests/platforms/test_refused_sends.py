"""A refused send is shown with the bot until the platform accepts a message in that chat, at most ten minutes."""

from parlour.platforms._host.sends import ERROR_SHOWN_MILLISECONDS, SendErrors


class Clock:
    def __init__(self) -> None:
        self.time = 1_000_000

    def now(self) -> int:
        return self.time


def test_a_refusal_is_shown_with_the_chat_and_the_reason() -> None:
    sends = SendErrors(Clock())
    sends.record_refused("bot", "group 5", "no such group")
    assert sends.current_error("bot") == "what was sent to group 5 was not taken: no such group"
    assert sends.current_error("another bot") == ""


def test_an_unacknowledged_send_is_shown_as_uncertain() -> None:
    sends = SendErrors(Clock())
    sends.record_unacknowledged("bot", "group 5", "it did not answer")
    assert sends.current_error("bot") == "what was sent to group 5 may not have arrived: it did not answer"


def test_a_refusal_is_no_longer_shown_after_a_successful_send_to_that_chat() -> None:
    sends = SendErrors(Clock())
    sends.record_refused("bot", "group 5", "no such group")
    sends.clear_chat("bot", "group 6")
    sends.clear_chat("another bot", "group 5")
    assert sends.current_error("bot")
    sends.clear_chat("bot", "group 5")
    assert sends.current_error("bot") == ""


def test_a_refusal_is_no_longer_shown_after_a_while() -> None:
    clock = Clock()
    sends = SendErrors(clock)
    sends.record_refused("bot", "group 5", "no such group")
    clock.time += ERROR_SHOWN_MILLISECONDS
    assert sends.current_error("bot") == ""
