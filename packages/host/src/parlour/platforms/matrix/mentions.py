"""Finds the mentions in a message: pills of its formatted body, and ids in its text."""

import re
from collections.abc import Collection, Iterator
from html import unescape
from urllib.parse import unquote

from parlour_sdk.protocol.chain import At, AtAll, MessageChain, Plain

from .values import Payload, mapping, sequence

LINK = "https://matrix.to/#/"
EVERYONE = "@room"
LONGEST_ID, LONGEST_LABEL = 300, 500
MAX_MENTIONS = 100
_TAG = re.compile(r"<[^<>]*>")
Mention = tuple[str, str]
"""A user's id and the label it is shown with."""


def mentioned_ids(content: Payload) -> set[str]:
    """Returns the ids of the users whom the sender's client lists as mentioned."""
    told = sequence(mapping(content.get("m.mentions")).get("user_ids"))
    return {each for each in told[:MAX_MENTIONS] if isinstance(each, str) and each}


def components(body: str, content: Payload, own: str) -> MessageChain:
    """Splits a text into plain parts and mentions."""
    pills = list(_pills(content["formatted_body"])) if isinstance(content.get("formatted_body"), str) else []
    names = {own, *mentioned_ids(content)} - {""}
    everyone = mapping(content.get("m.mentions")).get("room") is True
    chain: MessageChain = []
    for part in _by_pills(body, pills):
        if isinstance(part, Plain):
            chain += _by_names(part.text, names, everyone)
        else:
            chain.append(part)
    return _without_colon(chain)


def _pills(formatted: str) -> Iterator[Mention]:
    """Yields links to users. They are searched without a pattern, which could take extremely long on hostile input."""
    start = 0
    for _ in range(MAX_MENTIONS):
        at = formatted.find(LINK, start)
        if at < 0:
            return
        start = at + len(LINK)
        address = re.match(r"[^\"'<>\s]*", formatted[start : start + LONGEST_ID])
        user_id = unquote(address[0]).partition("?")[0] if address else ""
        opened = formatted.find(">", start)
        closed = formatted.find("</a", opened)
        if user_id.startswith("@") and 0 <= opened < closed <= opened + LONGEST_LABEL:
            yield user_id, unescape(_TAG.sub("", formatted[opened + 1 : closed]))


def _by_pills(body: str, pills: list[Mention]) -> MessageChain:
    """Splits the body at the labels of pills: it has a pill's label where the formatted body has the pill."""
    chain: MessageChain = []
    start = 0
    for user_id, label in pills:
        at = body.find(label, start) if label else -1
        if at < 0:
            continue
        chain += [Plain(text=body[start:at])] if at > start else []
        chain.append(At(target=user_id, display=label.removeprefix("@")))
        start = at + len(label)
    return [*chain, Plain(text=body[start:])] if start < len(body) else chain


def _by_names(text: str, names: Collection[str], everyone: bool) -> Iterator[Plain | At | AtAll]:
    wanted = [*names, EVERYONE] if everyone else [*names]
    if not any(each in text for each in wanted):
        yield Plain(text=text)
        return
    for part in re.split("(" + "|".join(re.escape(each) for each in sorted(wanted, key=len, reverse=True)) + ")", text):
        if part == EVERYONE and everyone:
            yield AtAll()
        elif part in names:
            yield At(target=part)
        elif part:
            yield Plain(text=part)


def _without_colon(chain: MessageChain) -> MessageChain:
    """Removes the colon that clients write after a mention at the very start, as in `Name: `."""
    match chain:
        case [At() as first, Plain(text=said), *rest] if said.startswith(": "):
            return [first, Plain(text=said[1:]), *rest]
    return chain
