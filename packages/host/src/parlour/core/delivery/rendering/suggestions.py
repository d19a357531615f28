"""Shows the replies that a message suggests: as buttons where the platform has them, otherwise as lines of text.

A button names its run and a digest of its text, because a platform stores only a few bytes with a button. The text of a
pressed button is found in the message again.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from parlour.core.model.ids import RunId
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.texts.catalogue import text
from parlour_sdk.values import dataclass

SUGGESTION_ACTION_ID = "suggestion"
"""The action id by which the press of a suggested reply is recognized."""
MAX_SUGGESTIONS = 8
"""Suggestions that are shown below one message."""
MAX_SUGGESTION_CHARACTERS = 500
"""Longer suggestions are left out: they are no short replies."""


@dataclass(frozen=True, slots=True)
class SuggestedReplies:
    """The suggested replies of one message. `is_listed` is true if the text of the message lists them already."""

    texts: tuple[str, ...]
    is_listed: bool

    def fit_labels(self, manifest: AdapterManifest) -> bool:
        """Returns whether each of them fits on a button of the platform."""
        return all(len(each) <= manifest.limits.button_label for each in self.texts)

    def shown(self, manifest: AdapterManifest) -> tuple[str, ...]:
        """Returns as many as the platform has buttons for."""
        return self.texts[: manifest.limits.buttons] if manifest.buttons else self.texts

    def as_text(self, manifest: AdapterManifest, language: str) -> str:
        """Returns them as lines below the text; empty if buttons or the text itself show them in full."""
        if not self.texts or self.is_listed or (manifest.buttons and self.fit_labels(manifest)):
            return ""
        lines = [f"{number}. {each}" for number, each in enumerate(self.shown(manifest), 1)]
        return "\n\n" + "\n".join([text("suggestions.heading", language), *lines])

    def as_buttons(self, manifest: AdapterManifest, run_id: RunId) -> list[dict[str, Any]]:
        """Returns the component with the buttons; an empty list without suggestions or on a platform without buttons.

        What is too long for a label is cut; the text then lists the suggestions under the same numbers.
        """
        if not self.texts or not manifest.buttons:
            return []
        is_numbered = bool(self.as_text(manifest, ""))
        buttons = [
            {
                "label": _label(f"{number}. {each}" if is_numbered else each, manifest.limits.button_label),
                "action_id": SUGGESTION_ACTION_ID,
                "value": f"{run_id}:{_digest(each)}",
            }
            for number, each in enumerate(self.shown(manifest), 1)
        ]
        data = {"buttons": [[each] for each in buttons]}
        return [{"type": "Platform", "platform": manifest.name, "component_type": "buttons", "data": data}]


def suggestions_of(message: Mapping[str, Any]) -> SuggestedReplies:
    """Returns the suggestions in the metadata of a message, or the options of the question that it asks."""
    metadata = message.get("metadata") or {}
    question = metadata.get("question")
    options = question.get("options") if isinstance(question, Mapping) else None
    offered = metadata.get("suggestions")
    texts = offered if offered is not None else options
    found = [each.strip() for each in texts if isinstance(each, str)] if isinstance(texts, list) else []
    usable = dict.fromkeys(each for each in found if each and len(each) <= MAX_SUGGESTION_CHARACTERS)
    return SuggestedReplies(tuple(usable)[:MAX_SUGGESTIONS], is_listed=offered is None)


def pressed_run(value: object) -> RunId | None:
    """Returns the run whose suggestion was pressed; None if no suggestion has this value."""
    run_id, separator, digest = str(value).partition(":")
    return RunId(run_id) if run_id and separator and digest else None


def pressed_text(value: object, messages: Iterable[Mapping[str, Any]]) -> str | None:
    """Returns the text of a pressed suggestion; None if the messages do not suggest it."""
    _, _, digest = str(value).partition(":")
    return next(
        (each for message in messages for each in suggestions_of(message).texts if _digest(each) == digest), None
    )


def _label(shown: str, limit: int) -> str:
    line = " ".join(shown.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _digest(suggestion: str) -> str:
    return hashlib.sha256(suggestion.encode()).hexdigest()[:8]
