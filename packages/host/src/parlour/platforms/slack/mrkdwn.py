"""Converts Markdown to Slack's own markup, mrkdwn, and escapes and reads its special characters."""

from parlour.core.delivery.rendering.text_formatter import has_markup
from parlour.platforms._kit.chat_markup import convert_markdown

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def escape(text: str) -> str:
    """Escapes the characters with which mentions and links begin, so that text never becomes one."""
    return "".join(_ESCAPES.get(character, character) for character in text)


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def from_markdown(text: str) -> str:
    """Returns a text as mrkdwn, whose escapes are those of HTML. Text without markup is only escaped."""
    if not has_markup(text):
        return escape(text)
    return convert_markdown(text, lambda address, label: f"<{escape(address)}|{label}>")
