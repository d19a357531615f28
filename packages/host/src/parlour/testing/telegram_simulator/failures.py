"""Describes refusals of the Bot API."""

from typing import Any


class Failed(Exception):
    """Carries the code, the text, and the parameters for programs."""

    def __init__(self, code: int, description: str, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def answer(self) -> dict[str, Any]:
        extra_fields = {"parameters": self.parameters} if self.parameters else {}
        return {"ok": False, "error_code": self.code, "description": self.description, **extra_fields}
