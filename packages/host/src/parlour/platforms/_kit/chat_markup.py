"""Converts Markdown to the signs with which chat platforms format text: *bold*, _italic_, ~struck~ and `code`."""

import re
from collections.abc import Callable
from html import unescape

from parlour.core.delivery.rendering.html import to_html

Link = Callable[[str, str], str]
"""Returns a link as the platform shows it, from its address and its label, which is escaped as in HTML."""
FENCE = "```"
_TAG = re.compile(r"<(/?)(b|i|s|code|pre|blockquote|a)((?:\s[^<>]*)?)>")
_SIGNS = {"b": "*", "i": "_", "s": "~", "code": "`"}
_HREF = re.compile(r'href="([^"]*)"')


def convert_markdown(text: str, link: Link) -> str:
    """Returns Markdown with signs instead of its markup. The characters `&`, `<` and `>` stay escaped as in HTML, and
    the white space around the text stays.
    """
    head = text[: len(text) - len(text.lstrip())]
    tail = text[len(text.rstrip()) :]
    return head + _replace_tags(to_html(text), link) + tail


def _replace_tags(html: str, link: Link) -> str:
    out: list[str] = []
    links: list[tuple[int, str]] = []
    position, quoted, fenced = 0, 0, False
    for match in _TAG.finditer(html):
        out.append(_text(html[position : match.start()], quoted))
        position = match.end()
        is_end, tag, attributes = bool(match[1]), match[2], match[3]
        match tag:
            case "pre":
                fenced = not is_end
                out.append(f"\n{FENCE}" if is_end else f"{FENCE}\n")
            case "code" if fenced:
                pass  # the language of a block, which is not shown
            case "blockquote":
                quoted += -1 if is_end else 1
                out.append("" if is_end else "> ")
            case "a" if is_end:
                first, address = links.pop()
                label = "".join(out[first:])
                del out[first:]
                out.append(link(address, label))
            case "a":
                found = _HREF.search(attributes)
                links.append((len(out), unescape(found[1]) if found else ""))
            case _:
                out.append(_SIGNS[tag])
    out.append(_text(html[position:], quoted))
    return "".join(out)


def _text(text: str, quoted: int) -> str:
    text = text.replace("&quot;", '"').replace("&#x27;", "'")
    return text.replace("\n", "\n> ") if quoted else text
