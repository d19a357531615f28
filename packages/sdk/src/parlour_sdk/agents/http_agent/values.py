"""Reads and builds values that many services share: usage, JSON texts, files, and headers of credentials."""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from parlour_sdk.protocol.usage import Usage

from .errors import ServiceFailure
from .updates import AnswerFile, UsageReport

MEDIA_KINDS = ("image", "audio", "video")


def usage_report(used: object, prompt: str = "input_tokens", completion: str = "output_tokens") -> list[UsageReport]:
    """Returns the report of a service's token counts, whose names are given; an empty list if there are none."""
    if not isinstance(used, Mapping) or not (used.get(prompt) or used.get(completion)):
        return []
    tokens = Usage(prompt_tokens=int(used.get(prompt) or 0), completion_tokens=int(used.get(completion) or 0))
    return [UsageReport(tokens)]


def decoded(value: Any) -> Any:
    """Returns the value of a JSON text; any other value as it is."""
    try:
        return json.loads(value) if isinstance(value, str) and value else value
    except ValueError:
        return value


def json_object(body: bytes) -> dict[str, Any]:
    """Returns the JSON object of a body; an empty one if it is something else."""
    try:
        data = json.loads(body)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def content_text(content: object, kind: str = "text") -> str:
    """Returns the text of a content that is a text or a list of parts; of a list only parts of this kind count."""
    if isinstance(content, str):
        return content if kind == "text" else ""
    parts = [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    return "".join(str(each.get(kind) or "") for each in parts if each.get("type") == kind)


def citation(**fields: object) -> dict[str, Any]:
    """Returns a source of an answer, without the fields that the service left out."""
    return {name: value for name, value in fields.items() if value is not None}


def answer_file(
    url: str,
    name: object = None,
    mime_type: object = None,
    kind: object = None,
    file_id: object = None,
    content_base64: object = None,
) -> AnswerFile:
    """Returns a file of an answer. By default its name is the last part of the path, and its kind that of its type.

    Raises ServiceFailure if its content is no base64.
    """
    media_type = str(mime_type or "")
    known_kind = next((each for each in (str(kind or ""), media_type.partition("/")[0]) if each in MEDIA_KINDS), "file")
    shown_name = str(name or "") or urlsplit(url).path.rpartition("/")[2] or "file"
    try:
        content = base64.b64decode(str(content_base64), validate=True) if content_base64 else None
    except binascii.Error:
        raise ServiceFailure("protocol", f"the file {shown_name} can't be decoded") from None
    address = url if content is None else None
    return AnswerFile(shown_name, address, content, media_type or None, known_kind, str(file_id or ""))


def authorization(kind: str, key: str, header: str = "", username: str = "") -> dict[str, str]:
    """Returns the header of credentials: `bearer`, `basic`, or `header` for one of the service's own."""
    match kind:
        case "bearer":
            return {"Authorization": f"Bearer {key}"}
        case "basic":
            return {"Authorization": f"Basic {base64.b64encode(f'{username}:{key}'.encode()).decode()}"}
        case "header":
            return {header: key}
    return {}


def default_path(path: str) -> Callable[[str], str]:
    """Returns a validator that adds a path to an address that has none."""
    return lambda address: address if urlsplit(address).path.strip("/") else f"{address}{path}"
