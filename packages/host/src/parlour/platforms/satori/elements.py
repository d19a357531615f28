"""Reads and writes the elements of Satori's messages, which look like XHTML but have rules of their own."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from parlour_sdk.values import dataclass

MAX_DEPTH = 40
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s>/]*)((?:\"[^\"]*\"|'[^']*'|[^>\"'])*?)(/?)>|<!--.*?-->", re.DOTALL)
_ATTRIBUTE = re.compile(r"([^\s=\"'/]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+)))?")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
EMPTY = frozenset(("br", "img", "audio", "video", "file", "at", "sharp", "emoji"))
"""Elements that may lack their end although they contain nothing."""


@dataclass(slots=True)
class Element:
    """An element with its attributes and content. A text has no name."""

    name: str = ""
    text: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    children: list["Element"] = field(default_factory=list)

    def attribute(self, *names: str) -> str:
        """Returns the first of these attributes that is not empty."""
        return next((self.attributes[name] for name in names if self.attributes.get(name)), "")

    def texts(self) -> str:
        """Returns the text of the whole content."""
        return self.text + "".join(child.texts() for child in self.children)


def parse(content: str) -> list[Element]:
    """Reads a message into elements and texts. Comments and ends without a beginning are left out; anything else
    that is no element stays text.
    """
    root = Element("root")
    path = [root]
    position = 0
    for match in _TAG.finditer(content):
        _add_text(path[-1], content[position : match.start()])
        position = match.end()
        end, name, attributes, is_closed = match.groups()
        if name is None:
            continue  # a comment
        if end:
            names = [each.name for each in path]
            if name in names[1:]:
                del path[len(names) - 1 - names[::-1].index(name) :]
            continue
        element = Element(name, attributes=dict(_attributes(attributes)))
        path[-1].children.append(element)
        if not is_closed and name not in EMPTY and len(path) < MAX_DEPTH:
            path.append(element)
    _add_text(path[-1], content[position:])
    return root.children


def _attributes(source: str) -> Iterator[tuple[str, str]]:
    """Yields attributes; one without a value is true, and `no-` before its name makes it false."""
    for name, double, single, bare in _ATTRIBUTE.findall(source):
        value = double or single or bare
        if value or "=" in source[source.find(name) : source.find(name) + len(name) + 1]:
            yield name, unescape(value)
        elif name.startswith("no-"):
            yield name[3:], "false"
        else:
            yield name, "true"


def _add_text(parent: Element, text: str) -> None:
    if text:
        parent.children.append(Element(text=unescape(text)))


def escape(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)


def unescape(text: str) -> str:
    return _ENTITY.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    name = match[1]
    if name in _NAMED:
        return _NAMED[name]
    number = int(name[2:], 16) if name.startswith("#x") else int(name[1:])
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


def element(name: str, attributes: Mapping[str, str | None], content: str = "") -> str:
    """Writes an element; attributes without a value are left out, and the content is already escaped."""
    written = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items() if value)
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"
