"""Asks all questions of one half in several ways, and prints the figures.

python -m tests.knowledge.measuring tuning
"""

import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from parlour.core.knowledge.fusion import rank_scores
from parlour.core.model.knowledge import RetrievalSettings
from parlour_sdk.values import dataclass

from .bench_base import BenchBase, open_bench
from .quality import KINDS, LANGUAGES, Figures, Half, Question, QuestionSet, figures, load, others

FOUND = 20
"""Passages that are asked for."""
GROUPS = tuple((language, kind) for kind in KINDS for language in LANGUAGES)
WAYS = ("words", "vector", "rank fusion", "hybrid")
SINGLE = {"words": "full_text", "vector": "vector", "hybrid": "hybrid"}


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one way to search, by language and kind of question."""

    by_group: Mapping[tuple[str, str], Figures]

    @property
    def recall(self) -> float:
        return sum(each.recall for each in self.by_group.values()) / len(self.by_group)

    @property
    def gain(self) -> float:
        return sum(each.gain for each in self.by_group.values()) / len(self.by_group)


@dataclass(frozen=True, slots=True)
class Results:
    """All figures of one half."""

    ways: Mapping[str, Measured]
    best_scores: Sequence[tuple[Question, float]]
    """Score of the best passage of a hybrid search, for each question."""

    def rejected(self, threshold: float, kinds: Sequence[str]) -> float:
        """Returns the part of these questions whose best passage has a lower score."""
        scores = [score for question, score in self.best_scores if question.kind in kinds]
        return sum(score < threshold for score in scores) / len(scores)

    def table(self) -> str:
        """Returns recall@5 / nDCG@10 of each way and group."""
        head = "| | " + " | ".join(f"{language} {kind}" for language, kind in GROUPS) + " | mean |"
        lines = [head, "| --- " * (len(GROUPS) + 2) + "|"]
        for way, measured in self.ways.items():
            cells = [f"{measured.by_group[group].recall:.2f} / {measured.by_group[group].gain:.2f}" for group in GROUPS]
            lines.append(f"| {way} | {' | '.join(cells)} | {measured.recall:.3f} / {measured.gain:.3f} |")
        return "\n".join(lines)


async def measure(half: Half, folder: Path) -> Results:
    questions = load(half)
    async with open_bench(folder) as bench:
        await bench.fill([*questions.passages, *others()])
        return await ask_all(bench, questions)


async def ask_all(bench: BenchBase, questions: QuestionSet, settings: RetrievalSettings | None = None) -> Results:
    ranks: dict[str, dict[tuple[str, str], list[int | None]]] = {way: {} for way in WAYS}
    best: list[tuple[Question, float]] = []
    for question in questions.questions:
        found: dict[str, list[str]] = {}
        for way, mode in SINGLE.items():
            wanted = replace(settings or RetrievalSettings(), mode=mode, top_k=FOUND, min_score=0.0)  # type: ignore[arg-type]
            report = await bench.search(question.text, wanted)
            found[way] = [passage.chunk_id for passage in report.passages]
            if way == "hybrid":
                best.append((question, report.passages[0].score if report.passages else 0.0))
        if question.kind == "none":
            continue
        fused = [rank_scores(found[way]) for way in ("words", "vector")]
        names = {name for scores in fused for name in scores}
        found["rank fusion"] = sorted(names, key=lambda name: -sum(scores.get(name, 0.0) for scores in fused))
        answer = bench.ids[question.answer]
        for way in WAYS:
            rank = found[way].index(answer) if answer in found[way] else None
            ranks[way].setdefault((question.language, question.kind), []).append(rank)
    measured = {way: Measured({group: figures(ranks[way][group]) for group in GROUPS}) for way in WAYS}
    return Results(measured, best)


def main(half: Half) -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = asyncio.run(measure(half, Path(folder)))
    sys.stdout.write(f"{results.table()}\n\n| smallest score | answerable rejected | no answer rejected |\n")
    for percent in range(10, 50, 2):
        threshold = percent / 100
        answerable, none = results.rejected(threshold, KINDS), results.rejected(threshold, ["none"])
        sys.stdout.write(f"| {threshold} | {answerable:.3f} | {none:.3f} |\n")


if __name__ == "__main__":
    main(cast("Half", sys.argv[1]))
