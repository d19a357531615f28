"""Embeds texts without any service, by the word vectors of wordllama: the mean of the vectors of a text's tokens.

The package is used for its files only. Importing it would load a client of a model hub and take five times as long.
"""

import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from parlour.core.knowledge.ports import Vectors

WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
MAX_TOKENS = 2048
"""Tokens of a text that count; a passage has fewer."""


@cache
def load_model() -> "OfflineModel":
    """Returns the model, which is loaded once: about 0.3 s and 60 MB."""
    return OfflineModel()


class OfflineModel:
    """Word vectors and the tokenizer that belongs to them."""

    def __init__(self) -> None:
        import numpy as np
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        spec = importlib.util.find_spec("wordllama")
        assert spec is not None
        assert spec.submodule_search_locations is not None
        folder = Path(next(iter(spec.submodule_search_locations)))
        self._np = np
        [weights] = load_file(folder / WEIGHTS).values()
        self._weights: Any = weights
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> Vectors:
        np = self._np
        vectors = np.zeros((len(texts), self._weights.shape[1]), np.float32)
        encoded = self._tokenizer.encode_batch([_clean(text) for text in texts], add_special_tokens=False)
        for row, each in enumerate(encoded):
            if each.ids:
                vectors[row] = self._weights[each.ids].mean(axis=0, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths > 0, lengths, 1)


def _clean(text: str) -> str:
    """Replaces halves of surrogate pairs, which the tokenizer rejects."""
    return text.encode("utf-8", "replace").decode()
