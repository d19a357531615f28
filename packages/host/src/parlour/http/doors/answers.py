"""What doors read from a turn that has ended: its text, its files and its use of models."""

from collections.abc import Iterable, Mapping
from typing import Any

from parlour.core.encoding import loads

from .frames import message_text
from .updates import TurnEnd

SEPARATOR = "\n\n"
"""Text between two messages of one turn, for standards that know one answer only."""


def answer_text(messages: Iterable[Mapping[str, Any]]) -> str:
    return SEPARATOR.join(filter(None, map(message_text, messages)))


def file_refs(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the references to the files of a message."""
    return list(message.get("artifact_refs") or ())


def file_lines(message: Mapping[str, Any], address: str) -> str:
    """Returns a link to each file of a message, for standards whose answers have text only."""
    links = [
        f"[{ref.get('name') or ref['artifact_id']}]({address}/api/v1/artifacts/{ref['artifact_id']}/content)"
        for ref in file_refs(message)
    ]
    return "\n".join(links)


def token_usage(end: TurnEnd) -> tuple[int, int]:
    """Returns the tokens of the prompts and of the answers; zeros if the agent reported none."""
    usage = loads(end.run["usage"]) if end.run is not None and end.run["usage"] else {}
    return _count(usage, "prompt_tokens", "input_tokens"), _count(usage, "completion_tokens", "output_tokens")


def _count(usage: Mapping[str, Any], *names: str) -> int:
    return next((value for name in names if isinstance(value := usage.get(name), int)), 0)
