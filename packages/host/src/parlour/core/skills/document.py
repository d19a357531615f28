"""Reads and writes SKILL.md: front matter with name and description, then the instructions."""

import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

from parlour.core.model.ids import SkillName
from parlour_sdk.values import dataclass

from .limits import (
    MAX_DESCRIPTION_CHARACTERS,
    MAX_FRONT_MATTER_BYTES,
    MAX_INSTRUCTION_BYTES,
    MAX_NAME_CHARACTERS,
    SkillInvalid,
)

DOCUMENT: Final = "SKILL.md"
NAME_PATTERN: Final = r"^[a-z0-9]+(-[a-z0-9]+)*$"
OPTIONAL_FIELDS: Final = ("license", "compatibility", "metadata", "allowed-tools")
UNESCAPED_LINE_BREAK: Final = re.compile("[\x85\u2028\u2029]")
"""Characters that end a line in YAML, and that its writer leaves as they are unless it escapes all but ASCII."""
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SkillDocument:
    """The content of a SKILL.md."""

    name: SkillName
    description: str
    instructions: str
    metadata: Mapping[str, Any]


def check_name(name: str) -> SkillName:
    """Returns the name. Raises SkillInvalid."""
    if len(name) > MAX_NAME_CHARACTERS or not re.fullmatch(NAME_PATTERN, name):
        raise SkillInvalid(
            f"'{name[:80]}' is no name of a skill: use a-z, 0-9 and single hyphens, at most {MAX_NAME_CHARACTERS}"
        )
    return SkillName(name)


def read_document(content: bytes) -> SkillDocument:
    """Parses a SKILL.md. Raises SkillInvalid."""
    if len(content) > MAX_INSTRUCTION_BYTES:
        raise SkillInvalid(f"{DOCUMENT} has {len(content)} bytes; at most {MAX_INSTRUCTION_BYTES} are accepted")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise SkillInvalid(f"{DOCUMENT} is not UTF-8 text") from None
    found = _FRONT_MATTER.match(text)
    if found is None:
        raise SkillInvalid(f"{DOCUMENT} must begin with front matter between two lines ---, with name and description")
    fields = _read_fields(found[1])
    name, description = (_text(fields, key) for key in ("name", "description"))
    if len(description) > MAX_DESCRIPTION_CHARACTERS:
        raise SkillInvalid(
            f"{DOCUMENT}: description has {len(description)} characters; use at most {MAX_DESCRIPTION_CHARACTERS}"
        )
    others: dict[str, Any] = {key: fields[key] for key in OPTIONAL_FIELDS if key in fields}
    return SkillDocument(check_name(name), description, text[found.end() :].strip("\n"), others)


def write_document(document: SkillDocument) -> bytes:
    """Returns the SKILL.md of these values."""
    fields = {"name": str(document.name), "description": document.description, **document.metadata}
    head = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=1000)
    if UNESCAPED_LINE_BREAK.search(head):
        head = yaml.safe_dump(fields, sort_keys=False, width=1000)
    return f"---\n{head}---\n\n{document.instructions}\n".encode()


def _read_fields(text: str) -> dict[str, Any]:
    if len(text.encode()) > MAX_FRONT_MATTER_BYTES:
        raise SkillInvalid(f"{DOCUMENT}: the front matter has more than {MAX_FRONT_MATTER_BYTES} bytes")
    try:
        fields = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = f" in line {line + 2}" if line is not None else ""
        raise SkillInvalid(
            f"{DOCUMENT}: the front matter is no YAML{where}; quote texts that contain a colon"
        ) from None
    if not isinstance(fields, dict):
        raise SkillInvalid(f"{DOCUMENT}: the front matter must be fields such as name and description")
    return {str(key): _plain(value) for key, value in fields.items()}


def _plain(value: Any, depth: int = 0) -> Any:
    """Returns a value of YAML as JSON has it, such as a date as text. Aliases are refused where they nest."""
    if depth > 4:
        raise SkillInvalid(f"{DOCUMENT}: the front matter is nested too deeply")
    if isinstance(value, dict):
        return {str(key): _plain(each, depth + 1) for key, each in list(value.items())[:100]}
    if isinstance(value, list | tuple | set):
        return [_plain(each, depth + 1) for each in list(value)[:100]]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not value.strip():
        raise SkillInvalid(f"{DOCUMENT}: the front matter has no {key}, or it is no text")
    return value.strip()
