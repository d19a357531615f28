"""Builds the JSON that is stored of a model call: bounded in size, without media and without secrets."""

import re
from typing import Any, Final

from parlour.core.encoding import dumps
from parlour.core.redaction import Redactor
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank

MAX_TEXT_CHARACTERS = 32 * 1024
"""Maximum characters of one text."""
MAX_CALL_CHARACTERS = 128 * 1024
"""Maximum characters of all texts of a request, and of all texts of an answer."""
MAX_TOOLS_CHARACTERS = 64 * 1024
"""Maximum characters of all tool definitions; beyond it only their names are stored."""
MARGIN_CHARACTERS = 4 * 1024
"""Characters beyond the cut that are redacted too, so that no half of a secret is left before the cut."""
_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,\s]{0,100};base64,[A-Za-z0-9+/=_-]*")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/=_\r\n-]{2048,}")

Request = InvokeModel | Embed | Rerank


class ContentBuilder:
    """Limits and redacts the values of one request or one answer; `truncated` is true if something was left out."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._remaining_characters = MAX_CALL_CHARACTERS
        self.truncated = False

    def encode(self, value: Any) -> str:
        return self._redactor.redact_json(dumps(self.limit(value)))

    def messages(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Keeps the first message and as many of the newest as fit; a note says how many are missing."""
        if not messages:
            return []
        first, remaining = self.limit(messages[0]), messages[1:]
        newest: list[dict[str, Any]] = []
        while remaining and self._remaining_characters > 0:
            newest.append(self.limit(remaining.pop()))
        if remaining:
            self.truncated = True
            newest.append({"role": "note", "content": f"[{len(remaining)} messages left out: the prompt is too long]"})
        return [first, *reversed(newest)]

    def limit(self, value: Any) -> Any:
        match value:
            case str():
                return self._text(value)
            case list() | tuple():
                return [self.limit(each) for each in value]
            case dict():
                return {name: self._field(value, name, each) for name, each in value.items()}
        return value

    def _field(self, fields: dict[str, Any], name: str, value: Any) -> Any:
        if name == "content_base64" and isinstance(value, str):
            self.truncated = True
            return _media_note(str(fields.get("mime_type") or fields.get("type") or "media"), len(value))
        return self.limit(value)

    def _text(self, text: str) -> str:
        if len(text) > 64 and ";base64," in text:
            text = _DATA_URL.sub(self._data_url, text)
        if len(text) >= 2048 and _BASE64.fullmatch(text):
            self.truncated = True
            text = _media_note("base64 data", len(text))
        limit = min(MAX_TEXT_CHARACTERS, max(self._remaining_characters, 0))
        if len(text) > limit:
            text = self._cut(text, limit)
        self._remaining_characters -= len(text)
        return text

    def _cut(self, text: str, limit: int) -> str:
        self.truncated = True
        cleaned = self._redactor.redact(text[: limit + MARGIN_CHARACTERS])
        if len(text) > limit + MARGIN_CHARACTERS:
            cleaned = cleaned[:-MARGIN_CHARACTERS]
        shortened = cleaned[:limit]
        return f"{shortened}… [{len(text) - len(shortened):,} more characters left out]"

    def _data_url(self, match: re.Match[str]) -> str:
        self.truncated = True
        return _media_note(match[1] or "media", len(match[0]))


def encode_request(request: Request, parameters: dict[str, Any], redactor: Redactor) -> tuple[str, bool]:
    """Returns the JSON of a request and whether something was left out of it."""
    builder = ContentBuilder(redactor)
    if not isinstance(request, InvokeModel):
        fields = request.model_dump(mode="json", exclude={"call_id", "run_id", "lease", "model_id"}, exclude_none=True)
        return builder.encode({**fields, "parameters": parameters}), builder.truncated
    fields = request.model_dump(mode="json", include={"messages", "tools"}, exclude_none=True)
    messages, tools = builder.messages(fields["messages"]), fields.get("tools", [])
    encoded_tools = dumps(tools)
    if len(encoded_tools) > MAX_TOOLS_CHARACTERS:
        builder.truncated = True
        encoded_tools = dumps([{"name": each["name"]} for each in tools])
    # The system message and the tools are the same in many requests, so that each is redacted once.
    system = messages[:1] if messages and messages[0]["role"] == "system" else []
    stored_system = redactor.redact_repeated_json(dumps(system))[1:-1]
    stored_others = redactor.redact_json(dumps(messages[len(system) :]))[1:-1]
    stored_messages = ",".join(part for part in (stored_system, stored_others) if part)
    stored_tools = redactor.redact_repeated_json(encoded_tools)
    limited_parameters = redactor.redact_json(dumps(ContentBuilder(redactor).limit(parameters)))
    return (
        f'{{"messages":[{stored_messages}],"tools":{stored_tools},"parameters":{limited_parameters}}}',
        builder.truncated,
    )


def encode_answer(answer: dict[str, Any], redactor: Redactor) -> tuple[str, bool]:
    builder = ContentBuilder(redactor)
    return builder.encode(answer), builder.truncated


def _media_note(kind: str, characters: int) -> str:
    return f"[{kind}: {characters * 3 // 4:,} bytes left out]"
