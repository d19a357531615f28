"""Explains how a WebSocket connection ended. The transport closes it."""

from typing import Final

from websockets.frames import Close, CloseCode
from websockets.protocol import Protocol

from parlour_sdk.wire.errors import FrameTooLarge, MalformedFrame

_REGULAR: Final = (CloseCode.NORMAL_CLOSURE, CloseCode.NO_STATUS_RCVD)
_CLOSE_TEXTS: Final[dict[int, str]] = {
    CloseCode.GOING_AWAY: "it is going away",
    CloseCode.PROTOCOL_ERROR: "it says that this side broke the WebSocket protocol",
    CloseCode.UNSUPPORTED_DATA: "it doesn't take this kind of message",
    CloseCode.INVALID_DATA: "it got a message that isn't valid UTF-8",
    CloseCode.POLICY_VIOLATION: "this side broke one of its rules",
    CloseCode.MESSAGE_TOO_BIG: "a message was too large for it",
    CloseCode.INTERNAL_ERROR: "something failed inside it",
    CloseCode.SERVICE_RESTART: "it restarts",
    CloseCode.TRY_AGAIN_LATER: "it is overloaded; try again later",
}


def close_reason(protocol: Protocol, frame_bytes: int, error: Exception | None) -> Exception | None:
    """Returns the reason for the end, or None if the other side closed regularly; `error` is the socket's own error."""
    received, sent = protocol.close_rcvd, protocol.close_sent
    if received is not None:
        return None if received.code in _REGULAR else ConnectionAbortedError(_describe_close(received))
    if sent is not None and sent.code == CloseCode.MESSAGE_TOO_BIG:
        return FrameTooLarge(frame_bytes)
    if sent is not None:
        return MalformedFrame(f"the other side broke the WebSocket protocol: {sent.reason}")
    cause = "the other side went away without closing it" if error is None else str(error)
    return ConnectionResetError(f"the connection broke off: {cause}")


def _describe_close(close: Close) -> str:
    explanation = _CLOSE_TEXTS.get(close.code, "it gave no other reason than the code")
    reason = "".join(character if character.isprintable() else " " for character in close.reason).strip()
    return f"the other side closed the connection: {explanation} ({close.code}{': ' if reason else ''}{reason})"
