"""Converts a chain into lines of IRC, each short enough for what other users see of it."""

from parlour.core.delivery.rendering.split import MEASURES, split
from parlour.platforms._kit.outgoing_files import Fetch, read_file
from parlour.platforms._kit.public_files import SERVED_TYPES, PublicFiles
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    Forward,
    Media,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Unknown,
)
from parlour_sdk.values import dataclass

from .lines import MAX_LINE_BYTES
from .server_state import ServerState
from .settings import NAME

ACTION = "action"
ASSUMED_MASK_BYTES = 74
"""Length of the longest user and host, if the server has not shown the bot's own."""
JOINT = " ⏎ "
"""Stands for the end of a line in a text of so many lines that they would take too long."""
MAX_FILE_BYTES = 20 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class IrcText:
    """A line of text, or an action as of /me."""

    text: str
    is_action: bool = False

    @property
    def content(self) -> str:
        return f"\x01ACTION {self.text}\x01" if self.is_action else self.text


class IrcEncoder:
    """Encodes the messages of one bot. Files become addresses at which this Host serves them."""

    def __init__(self, files: PublicFiles, fetch: Fetch) -> None:
        self._files = files
        self._fetch = fetch

    async def encode(
        self, chain: MessageChain, target: str, state: ServerState, max_lines: int
    ) -> tuple[list[IrcText], str]:
        """Returns the lines of a chain, and the id of the message that they answer."""
        size, quoted, text = room(state, target), "", ""
        lines: list[IrcText] = []
        for component in chain:
            match component:
                case Quote(id=message_id):
                    quoted = message_id or quoted
                case Platform(platform=platform, component_type=kind, data=data) if (platform, kind) == (NAME, ACTION):
                    lines += _lines(text, size, max_lines)
                    text = ""
                    shown = _lines(str(data.get("text") or ""), size - len("\x01ACTION \x01"), max_lines)
                    lines += [IrcText(each.text, is_action=True) for each in shown]
                case Media():
                    separator = "" if not text or text.endswith(("\n", " ")) else " "
                    text += f"{separator}{await self._file(component)}\n"
                case _:
                    text += component_text(component)
        return [*lines, *_lines(text, size, max_lines)], quoted

    async def _file(self, media: Media) -> str:
        """Returns where a file can be fetched, or its name if there is no such place."""
        if media.url:
            return media.url
        if self._files.base_url:
            file = await read_file(media, self._fetch, MAX_FILE_BYTES, "IRC")
            if file.mime_type.partition(";")[0] in SERVED_TYPES:
                return self._files.address(file, media.artifact_id or "")
        return f"[{media.name or media.type.lower()}]"


def component_text(component: Component) -> str:
    """Returns a component as text."""
    match component:
        case Plain() | Unknown():
            return component.text
        case At():
            return component.display or component.target.partition("!")[0]
        case AtAll():
            return "all"
        case Face():
            return component.name or component.id
        case Forward():
            nodes = ((node.name or node.sender or "?", node.chain) for node in component.nodes)
            return "".join(f"{name}: {''.join(map(component_text, chain))}\n" for name, chain in nodes)
        case Platform():
            return component.text or f"[{component.component_type}]"
    return ""


def room(state: ServerState, target: str) -> int:
    """Returns how many bytes of text fit into a line as other users get it."""
    mask = len(state.own_mask) if state.own_mask else ASSUMED_MASK_BYTES
    return MAX_LINE_BYTES - len(f":{state.nick}! PRIVMSG {target} :\r\n".encode()) - mask


def _lines(text: str, size: int, max_lines: int) -> list[IrcText]:
    """Cuts a text into lines, at words where possible. Blank lines are left out, since IRC can't send them."""
    whole = [line.rstrip() for line in text.splitlines() if line.strip()]
    if len(whole) > max_lines:
        whole = [JOINT.join(each.strip() for each in whole)]
    measure = MEASURES["bytes"]
    pieces = (piece.shown_text for line in whole for piece in split(line, size, measure))
    return [IrcText(each) for each in pieces if each.strip()]
