"""Encodes frames to bytes and decodes them, without the newline. Pure functions without connection or state.

Encoding accepts what `pydantic_core.to_json` accepts (JSON values, pydantic models); NaN and infinities become null,
because JSON has neither.
"""

import re
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from pydantic_core import from_json, to_json

from parlour_sdk.wire.errors import INVALID_ARGUMENT, PAYLOAD_TOO_LARGE, FrameTooLarge, MalformedFrame, WireError
from parlour_sdk.wire.frame_limits import check_frame_limits
from parlour_sdk.wire.limits import WireLimits

_MAX_NUMBER: Final = 2**53 - 1  # the largest integer that every JSON implementation represents exactly
_MAX_ACTION_CHARACTERS: Final = 256
# Matches the beginning of frames that can't be parsed, to find the request they belong to.
_HEAD: Final = re.compile(rb'\s*\{\s*"seq_id"\s*:\s*(\d{1,15})\s*,\s*"(action|code)"')


class WireRequest(NamedTuple):
    seq_id: int
    action: str
    data: Any


class WireResponse(NamedTuple):
    seq_id: int
    code: Literal[0] | str
    message: str
    data: Any


class WirePart(NamedTuple):
    """One item of a stream; the frame with `end` carries no item."""

    seq_id: int
    data: Any
    end: bool


class WireCredit(NamedTuple):
    seq_id: int
    n: int


class WireCancel(NamedTuple):
    seq_id: int


Frame: TypeAlias = WireRequest | WireResponse | WirePart | WireCredit | WireCancel


def encode_request(seq_id: int, action: str, data: Any, limits: WireLimits) -> bytes:
    return _encode({"seq_id": seq_id, "action": action, "data": data}, limits)


def encode_response(seq_id: int, data: Any, limits: WireLimits) -> bytes:
    return _encode({"seq_id": seq_id, "code": 0, "message": "", "data": data}, limits)


def encode_error(seq_id: int, error: WireError, limits: WireLimits) -> bytes:
    return _encode({"seq_id": seq_id, "code": error.code, "message": error.message, "data": error.data}, limits)


def encode_part(seq_id: int, data: Any, limits: WireLimits) -> bytes:
    return _encode({"seq_id": seq_id, "code": 0, "data": data, "chunk_status": "continue"}, limits)


def encode_end(seq_id: int) -> bytes:
    return b'{"seq_id":%d,"code":0,"data":null,"chunk_status":"end"}' % seq_id


def encode_credit(seq_id: int, n: int) -> bytes:
    return b'{"credit":%d,"n":%d}' % (seq_id, n)


def encode_cancel(seq_id: int) -> bytes:
    return b'{"cancel":%d}' % seq_id


def decode(frame: bytes, limits: WireLimits) -> Frame:
    """Decodes a frame. Raises `MalformedFrame`, and nothing else, for invalid bytes."""
    try:
        check_frame_limits(frame, limits)
        fields = from_json(frame, allow_inf_nan=False)
    except FrameTooLarge:
        raise
    except MalformedFrame as error:
        raise _with_request_id(error, frame) from None
    except ValueError as error:
        raise _with_request_id(MalformedFrame(f"a frame must be JSON: {error}"), frame) from None
    if type(fields) is not dict:
        raise MalformedFrame("a frame must be a JSON object")
    if "action" in fields:
        return _request(fields)
    if "seq_id" in fields:
        return _answer(fields)
    if "credit" in fields:
        return WireCredit(_number(fields, "credit"), _number(fields, "n", at_least=1))
    if "cancel" in fields:
        return WireCancel(_number(fields, "cancel"))
    raise MalformedFrame("a frame needs one of seq_id, credit or cancel")


def _encode(fields: dict[str, Any], limits: WireLimits) -> bytes:
    try:
        frame = to_json(fields, inf_nan_mode="null")
    except ValueError as error:
        raise WireError(INVALID_ARGUMENT, f"the data can't be written as JSON: {error}") from error
    if len(frame) > limits.frame_bytes:
        message = f"the frame has {len(frame)} bytes, at most {limits.frame_bytes} are allowed"
        raise WireError(PAYLOAD_TOO_LARGE, message)
    return frame


def _request(fields: dict[str, Any]) -> WireRequest:
    seq_id = _number(fields, "seq_id")
    action = fields["action"]
    if type(action) is not str or not 0 < len(action) <= _MAX_ACTION_CHARACTERS:
        message = f"action must be a string of 1 to {_MAX_ACTION_CHARACTERS} characters"
        raise MalformedFrame(message, seq_id, is_request=True)
    return WireRequest(seq_id, action, fields.get("data"))


def _answer(fields: dict[str, Any]) -> WireResponse | WirePart:
    seq_id = _number(fields, "seq_id")
    code = fields.get("code")
    status = fields.get("chunk_status")
    if type(code) is int and code == 0:
        if status is None:
            return WireResponse(seq_id, 0, "", fields.get("data"))
        if status == "continue":
            return WirePart(seq_id, fields.get("data"), end=False)
        if status == "end":
            return WirePart(seq_id, None, end=True)
        raise MalformedFrame("chunk_status must be continue or end", seq_id)
    if type(code) is not str or not code:
        raise MalformedFrame("code must be 0 or the name of an error", seq_id)
    message = fields.get("message", "")
    if type(message) is not str:
        raise MalformedFrame("message must be a string", seq_id)
    return WireResponse(seq_id, code, message, fields.get("data"))


def _number(fields: dict[str, Any], field: str, at_least: int = 0) -> int:
    number = fields.get(field)
    if type(number) is not int or not at_least <= number <= _MAX_NUMBER:
        raise MalformedFrame(f"{field} must be a whole number from {at_least} to 2^53 - 1")
    return number


def _with_request_id(error: MalformedFrame, frame: bytes) -> MalformedFrame:
    head = _HEAD.match(frame)
    if head is None:
        return error
    return MalformedFrame(error.message, int(head[1]), is_request=head[2] == b"action")
