"""Masks words in a text that is streamed: the end is held back until no word can begin there any more."""

from bisect import bisect_left

from .words import Graphemes, WordMatcher


class HeldBackText:
    """Passes a streamed text on with its words masked. The pieces together are the same as the masked whole."""

    def __init__(self, matcher: WordMatcher) -> None:
        self._matcher = matcher
        self._pending = ""
        """Text that has not been passed on."""
        self._before = ""
        """End of the text that was passed on, as it was before it was masked."""

    def add(self, text: str) -> str:
        """Adds a piece and returns what can be shown now."""
        self._pending += text
        return self._take(is_end=False)

    def finish(self) -> str:
        """Returns the rest of the text and starts again."""
        shown = self._take(is_end=True)
        self._pending = self._before = ""
        return shown

    def _take(self, is_end: bool) -> str:
        whole = Graphemes.of(self._before + self._pending)
        known = len(Graphemes.of(self._before).graphemes)
        end = len(whole.graphemes) if is_end else self._settled(whole)
        if end <= known:
            return ""
        shown = "".join(whole.masked(self._matcher.spans(whole.folded))[known:end])
        begins = max(bisect_left(whole.owners, end) - max(self._matcher.longest - 1, 0), 0)
        kept_from = whole.owners[begins] if begins < len(whole.owners) else end
        self._before = "".join(whole.graphemes[min(kept_from, end) : end])
        self._pending = "".join(whole.graphemes[end:])
        return shown

    def _settled(self, whole: Graphemes) -> int:
        """Returns how many graphemes can't become part of a word any more. The last one may still be continued."""
        open_from = len(whole.folded) - max(self._matcher.longest - 1, 0)
        if open_from < 0:
            return 0
        first_open = whole.owners[open_from] if open_from < len(whole.owners) else len(whole.graphemes)
        return min(first_open, len(whole.graphemes) - 1)
