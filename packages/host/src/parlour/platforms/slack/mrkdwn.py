"""Converts Markdown to Slack's own markup, mrkdwn, and escapes and reads its special characters."""

import re
from html import unescape as unescape_html

from parlour.core.delivery.rendering.html import to_html
from parlour.core.delivery.rendering.text_formatter import has_markup

_TAG = re.compile(r"<(/?)(b|i|s|code|pre|blockquote|a)((?:\s[^<>]*)?)>")
_SIGNS = {"b": "*", "i": "_", "s": "~", "code": "`"}
_HREF = re.compile(r'href="([^"]*)"')
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
FENCE = "```"


def escape(text: str) -> str:
    """Escapes the characters with which mentions and links begin, so that text never becomes one."""
    return "".join(_ESCAPES.get(character, character) for character in text)


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def from_markdown(text: str) -> str:
    """Returns a text as mrkdwn. Text without markup is only escaped."""
    if not has_markup(text):
        return escape(text)
    head = text[: len(text) - len(text.lstrip())]
    tail = text[len(text.rstrip()) :]
    return head + _from_html(to_html(text)) + tail


def _from_html(html: str) -> str:
    """Replaces the tags. The escapes of HTML are those of Slack, except for quotation marks."""
    out: list[str] = []
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
                pass  # the language of a block, which Slack does not show
            case "blockquote":
                quoted += -1 if is_end else 1
                out.append("" if is_end else "> ")
            case "a" if is_end:
                out.append(">")
            case "a":
                address = _HREF.search(attributes)
                out.append(f"<{escape(unescape_html(address[1])) if address else ''}|")
            case _:
                out.append(_SIGNS[tag])
    out.append(_text(html[position:], quoted))
    return "".join(out)


def _text(text: str, quoted: int) -> str:
    text = text.replace("&quot;", '"').replace("&#x27;", "'")
    return text.replace("\n", "\n> ") if quoted else text
