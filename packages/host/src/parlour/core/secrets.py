"""The port that encrypts tokens and keys before they are written to the database."""

from typing import Protocol


class SecretBox(Protocol):
    """Encrypts and decrypts secrets."""

    def seal(self, secret: str) -> str:
        """Returns the secret in the encrypted form that may be written to the database."""
        ...

    def open(self, sealed: str) -> str:
        """Returns the secret. Raises SecretUnreadable if it was sealed with another key."""
        ...


class NullSecretBox:
    """Secret box of a Host that stores no secrets; every call raises SecretUnreadable."""

    def seal(self, secret: str) -> str:
        raise SecretUnreadable

    def open(self, sealed: str) -> str:
        raise SecretUnreadable


class SecretUnreadable(Exception):
    """The secret was sealed with another key: put the key file of this database back, or enter the secret anew."""

    code = "secret_unreadable"

    def __init__(self) -> None:
        super().__init__(type(self).__doc__)
