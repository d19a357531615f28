"""Names, modes, users and error codes of official accounts."""

from typing import Literal

from parlour.platforms._kit.payloads import Payload, text
from parlour_sdk.protocol.people import User

NAME = "officialaccount"
SERVICE = "WeChat"
Mode = Literal["passive", "drop", "service"]
"""`passive`: a late reply waits for the user's next message. `drop`: it is not sent. `service`: all replies are
customer-service messages.
"""
WINDOW_CODES = (45015, 45047)
SERVICE_REASON = (
    "WeChat accepts five customer-service messages within 48 hours of a user's message; the user must write again"
)
EVENT_REASON = "WeChat accepts three customer-service messages within a minute of a menu click or a subscription"
PASSIVE_REASON = "WeChat accepts one reply within five seconds; what is late is shown with the user's next message"
DROP_REASON = "WeChat accepts one reply within fifteen seconds, and this bot does not keep late ones"
MEANINGS = {
    43004: "the user does not follow the account",
    45015: SERVICE_REASON,
    45047: SERVICE_REASON,
    48001: "the account has no right to customer-service messages; choose another way of replying",
}


def user(open_id: str, profile: Payload) -> User:
    """Returns a user. WeChat gives out no names, only the remark that the account has made."""
    return User(id=open_id, nickname=text(profile, "nickname") or text(profile, "remark"))
