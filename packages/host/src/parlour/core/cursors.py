"""Opaque positions in a list. A cursor of another list, scope or database is refused."""

import base64
import binascii
import hmac

from pydantic_core import to_json

from .encoding import loads


class InvalidCursor(Exception):
    """This cursor does not belong to this list; start again without one."""

    code = "invalid_argument"


class Cursors:
    def __init__(self, database_id: str) -> None:
        self._keyed = hmac.new(database_id.encode(), digestmod="sha256")

    def encode(self, listing: str, position: int | str) -> str:
        body = to_json(position)
        return base64.urlsafe_b64encode(self._seal(listing, body) + body).decode().rstrip("=")

    def decode(self, listing: str, cursor: str) -> int | str:
        try:
            raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        except (binascii.Error, ValueError) as error:
            raise InvalidCursor(InvalidCursor.__doc__) from error
        seal, body = raw[:8], raw[8:]
        if not hmac.compare_digest(seal, self._seal(listing, body)):
            raise InvalidCursor(InvalidCursor.__doc__)
        position: int | str = loads(body.decode())
        return position

    def _seal(self, listing: str, body: bytes) -> bytes:
        sealed = self._keyed.copy()  # a page has a cursor per item, and keying anew costs most of one
        sealed.update(listing.encode() + b"\0" + body)
        return sealed.digest()[:8]
