"""What may be given where a platform's message is wanted."""

from collections.abc import Sequence

from parlour_sdk.protocol.chain import Component, MessageChain, Plain

Chain = str | Component | Sequence[str | Component]
"""A text, a component, or several of either."""


def as_chain(chain: Chain) -> MessageChain:
    several = [chain] if isinstance(chain, str) or not isinstance(chain, Sequence) else chain
    return [Plain(text=each) if isinstance(each, str) else each for each in several]
