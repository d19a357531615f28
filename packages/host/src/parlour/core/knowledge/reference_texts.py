"""Ordinary sentences about many subjects, embedded into each collection of vectors.

They show how similar unrelated texts are, also in a base of three passages, and are never found themselves.
"""

from functools import cache
from pathlib import Path
from typing import Final

REFERENCE_PREFIX: Final = "#"
"""First character of the ids of reference texts; no passage has such an id."""
REFERENCE_DOCUMENT: Final = "#reference"


@cache
def reference_texts() -> list[str]:
    """Returns the sentences."""
    return Path(__file__).with_name("data").joinpath("reference_texts.txt").read_text(encoding="utf-8").splitlines()
