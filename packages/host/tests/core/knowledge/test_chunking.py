"""How files are cut into passages: what answers a question is seldom divided between two of them."""

from parlour.core.knowledge.chunking import Block, count_tokens, cut
from parlour.core.model.knowledge import ChunkSettings
from tests.knowledge.quality import load

LARGEST_TOKENS = 500
"""A passage may exceed the wanted size by a sentence."""


def test_answers_are_whole_in_one_passage() -> None:
    answers = [passage for half in ("tuning", "figures") for passage in load(half).passages]  # type: ignore[arg-type]
    blocks = [Block("\n".join(answers[number : number + 7]), (f"Part {number // 70}",)) for number in range(0, 196, 7)]
    passages = [each.text for each in cut(blocks, ChunkSettings())]
    wanted = answers[:196]
    whole = sum(any(answer in passage for passage in passages) for answer in wanted)
    assert whole >= 0.95 * len(wanted)
    assert 5 < len(passages) < 60
    assert max(count_tokens(passage) for passage in passages) <= LARGEST_TOKENS
