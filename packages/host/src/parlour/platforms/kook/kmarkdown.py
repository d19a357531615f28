"""Reads and writes KMarkdown: mentions, emojis and escapes in the text of KOOK's messages."""

import re

from parlour_sdk.protocol.chain import At, AtAll, Component, Face, MessageChain, Plain

EVERYONE, ONLINE = "all", "here"
_TOKEN = re.compile(
    r"\((?P<kind>met|rol|chn)\)(?P<id>[^()]{1,64})\((?P=kind)\)|\(emj\)(?P<name>[^()]{1,64})\(emj\)\[(?P<emoji>[^\]]{1,128})\]"
    r"|\\(?P<escaped>[\\*~\[\]()\-:>`_!#|])"
)
_TAG = re.compile(r"\((?=(?:met|rol|chn|emj|ins|spl|font)\))")


def escape_tags(text: str) -> str:
    """Breaks the tags of KMarkdown in a text, so that a model can't mention anyone. Markdown stays as it is."""
    return _TAG.sub(r"\\(", text)


def read(
    content: str, names: dict[str, str], own_roles: frozenset[str], own_id: str, is_markup: bool = True
) -> MessageChain:
    """Splits a text into plain parts, mentions and emojis. Text that is not KMarkdown is one part."""
    chain: list[Component] = []
    position = 0
    for match in _TOKEN.finditer(content) if is_markup else ():
        _add(chain, Plain(text=content[position : match.start()]))
        _add(chain, _component(match, names, own_roles, own_id))
        position = match.end()
    _add(chain, Plain(text=content[position:]))
    return chain


def _component(match: re.Match[str], names: dict[str, str], own_roles: frozenset[str], own_id: str) -> Component:
    if match["escaped"]:
        return Plain(text=match["escaped"])
    if match["emoji"]:
        return Face(id=match["emoji"], name=match["name"])
    target = match["id"]
    match match["kind"]:
        case "met" if target in (EVERYONE, ONLINE):
            return AtAll()
        case "met":
            return At(target=target, display=names.get(target))
        case "rol" if target in own_roles:
            return At(target=own_id)
        case "rol":
            return Plain(text=f"@{names.get(target, 'role')}")
    return Plain(text=f"#{target}")


def _add(chain: list[Component], component: Component) -> None:
    """Adds a component; adjacent texts become one."""
    if isinstance(component, Plain) and chain and isinstance(chain[-1], Plain):
        chain[-1] = Plain(text=chain[-1].text + component.text)
    elif not isinstance(component, Plain) or component.text:
        chain.append(component)
