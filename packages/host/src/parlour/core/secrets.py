"""What keeps tokens and keys unreadable in the database. Whoever holds a secret asks for exactly this."""

from typing import Protocol


class SecretBox(Protocol):
    def seal(self, secret: str) -> str:
        """As it may be written to the database."""
        ...

    def open(self, sealed: str) -> str:
        """The secret again. Raises SecretUnreadable when it was sealed with another key."""
        ...


class NoSecrets:
    """For whoever keeps none."""

    def seal(self, secret: str) -> str:
        raise SecretUnreadable

    def open(self, sealed: str) -> str:
        raise SecretUnreadable


class SecretUnreadable(Exception):
    """The secret was sealed with another key: put the key file of this database back, or enter the secret anew."""

    code = "secret_unreadable"

    def __init__(self) -> None:
        super().__init__(type(self).__doc__)
