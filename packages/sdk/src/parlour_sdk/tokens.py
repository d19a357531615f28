"""Estimates the number of tokens of a text without a tokenizer; Chinese, Japanese and Korean count by character.

The Host reserves budgets by this estimate, and the local agent limits its prompts by it. It errs on the high side.
"""

import re

WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U0001f000-\U0003ffff]"
)
CHARACTERS_PER_TOKEN = 4
OTHER_CHARACTERS_PER_TOKEN = 2
"""Characters per token of text that is neither ASCII nor wide."""


def estimated(text: str) -> int:
    if text.isascii():
        return -(-len(text) // CHARACTERS_PER_TOKEN)
    ascii_count = len(text.encode("ascii", "ignore"))
    wide = len(WIDE.findall(text))
    other_count = len(text) - ascii_count - wide
    return wide + -(-ascii_count // CHARACTERS_PER_TOKEN) + -(-other_count // OTHER_CHARACTERS_PER_TOKEN)
