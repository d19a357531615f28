"""Text with Telegram's entities, whose offsets count UTF-16 units. Unlike markup, entities can't break a message."""

from dataclasses import field

from parlour_sdk.values import dataclass

from .values import Payload

MAX_TEXT_LENGTH = 4096
MAX_CAPTION_LENGTH = 1024


def utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(slots=True)
class EntityText:
    """A text and its entities."""

    text: str = ""
    entities: list[Payload] = field(default_factory=list)

    def add(self, text: str, **entity: object) -> None:
        """Appends a text, with an entity over all of it if one is given."""
        if entity and text:
            self.entities.append({"offset": utf16_length(self.text), "length": utf16_length(text), **entity})
        self.text += text

    def join(self, other: "EntityText") -> None:
        start = utf16_length(self.text)
        self.entities += [{**entity, "offset": entity["offset"] + start} for entity in other.entities]
        self.text += other.text

    @property
    def blank(self) -> bool:
        """True if the text has only whitespace, which Telegram refuses as a message."""
        return not self.text.strip()

    def parameters(self, name: str = "text") -> Payload:
        """Returns the parameters of a method, named `text` or `caption`."""
        told = f"{name}_entities" if name == "caption" else "entities"
        return {name: self.text, **({told: self.entities} if self.entities else {})}
