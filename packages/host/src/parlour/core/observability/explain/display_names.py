"""Replaces the ids of bots, agents and people in an explanation by their names. Deleted ones keep their id."""

from collections.abc import Iterable
from dataclasses import replace

from parlour.core.encoding import loads
from parlour.core.journal import Journal, Row, Select, Table, one_of, where
from parlour.core.store.tables import AGENTS, API_KEYS, BOTS, USERS

from .steps import Step
from .texts import Sentence

Known = dict[tuple[str, str], str]
"""Display names by the placeholder of the sentence and the id."""
DECIDED = ("approval_approved", "approval_denied")
"""Codes of the sentences that name a person who decided."""
KEY = "api_key:"
"""Prefix of the id of an API key that decided."""


async def named(journal: Journal, trail: list[Step], people: bool) -> list[Step]:
    """Returns the steps with names in place of ids. `people` includes the users and API keys who decided approvals."""
    sentences = [sentence for step in trail for sentence in step.sentences]
    known: Known = {}
    for word, table, column in (("bot", BOTS, "bot_id"), ("agent", AGENTS, "agent_id")):
        for row in await _rows(journal, table, column, _ids(sentences, word)):
            known[word, row[column]] = f"'{loads(row['definition'])['name']}'"
    deciders = _ids((each for each in sentences if each.code in DECIDED), "who") if people else set()
    for row in await _rows(journal, USERS, "user_id", deciders):
        known["who", row["user_id"]] = row["name"] or row["email"]
    for row in await _rows(journal, API_KEYS, "key_id", {each.removeprefix(KEY) for each in deciders}):
        known["who", KEY + row["key_id"]] = f"API key '{row['name']}'"
    return [_renamed(step, known) for step in trail]


def _ids(sentences: Iterable[Sentence], word: str) -> set[str]:
    return {str(sentence.values[word]) for sentence in sentences if sentence.values.get(word)}


async def _rows(journal: Journal, table: Table, column: str, ids: set[str]) -> list[Row]:
    return await journal.read(Select(table, where(**{column: one_of(*sorted(ids))}))) if ids else []


def _renamed(step: Step, known: Known) -> Step:
    sentences = tuple(
        replace(each, values={word: known.get((word, str(value)), value) for word, value in each.values.items()})
        if each.values.keys() & {"bot", "agent", "who"}
        else each
        for each in step.sentences
    )
    if sentences == step.sentences:
        return step
    return replace(step, text=" ".join(each.text for each in sentences), sentences=sentences)
