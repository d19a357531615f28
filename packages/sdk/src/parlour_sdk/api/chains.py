"""Converts the forms in which a message may be passed into a message chain."""

from collections.abc import Sequence

from parlour_sdk.protocol.chain import Component, MessageChain, Plain

Chain = str | Component | Sequence[str | Component]
"""A text, a component, or a sequence of either."""


def as_chain(chain: Chain) -> MessageChain:
    parts = [chain] if isinstance(chain, str) or not isinstance(chain, Sequence) else chain
    return [Plain(text=each) if isinstance(each, str) else each for each in parts]
