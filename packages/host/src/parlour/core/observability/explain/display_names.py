"""Replaces the ids of bots, agents and people in an explanation by their names. Deleted ones keep their id."""

from collections.abc import Iterable
from dataclasses import replace

from parlour.core.encoding import loads
from parlour.core.journal import Journal, Row, Select, Table, one_of, where
from parlour.core.store.tables import AGENTS, API_KEYS, BOTS, USERS

from .steps import ExplanationStep
from .texts import ExplanationSentence

DisplayNames = dict[tuple[str, str], str]
"""Display names by the placeholder of the sentence and the id."""
DECISION_CODES = ("approval_approved", "approval_denied")
"""Codes of the sentences that name a person who decided."""
API_KEY_PREFIX = "api_key:"
"""Prefix of the id of an API key that decided."""


async def with_display_names(journal: Journal, trail: list[ExplanationStep], people: bool) -> list[ExplanationStep]:
    """Returns the steps with names in place of ids. `people` includes the users and API keys who decided approvals."""
    sentences = [sentence for step in trail for sentence in step.sentences]
    known: DisplayNames = {}
    for word, table, column in (("bot", BOTS, "bot_id"), ("agent", AGENTS, "agent_id")):
        for row in await _rows(journal, table, column, _ids(sentences, word)):
            known[word, row[column]] = f"'{loads(row['definition'])['name']}'"
    deciders = _ids((each for each in sentences if each.code in DECISION_CODES), "who") if people else set()
    for row in await _rows(journal, USERS, "user_id", deciders):
        known["who", row["user_id"]] = row["name"] or row["email"]
    for row in await _rows(journal, API_KEYS, "key_id", {each.removeprefix(API_KEY_PREFIX) for each in deciders}):
        known["who", API_KEY_PREFIX + row["key_id"]] = f"API key '{row['name']}'"
    return [_with_names(step, known) for step in trail]


def _ids(sentences: Iterable[ExplanationSentence], word: str) -> set[str]:
    return {str(sentence.values[word]) for sentence in sentences if sentence.values.get(word)}


async def _rows(journal: Journal, table: Table, column: str, ids: set[str]) -> list[Row]:
    return await journal.read(Select(table, where(**{column: one_of(*sorted(ids))}))) if ids else []


def _with_names(step: ExplanationStep, known: DisplayNames) -> ExplanationStep:
    sentences = tuple(
        replace(each, values={word: known.get((word, str(value)), value) for word, value in each.values.items()})
        if each.values.keys() & {"bot", "agent", "who"}
        else each
        for each in step.sentences
    )
    if sentences == step.sentences:
        return step
    return replace(step, text=" ".join(each.text for each in sentences), sentences=sentences)
