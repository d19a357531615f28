"""Selects among the keys of one provider: which one to use next, and which ones to pause."""

REFUSED_KEY_PAUSE_SECONDS = 600.0
LIMITED_KEY_PAUSE_SECONDS = 30.0
MIN_SECRET_LENGTH = 8
"""Minimum length of a key that is hidden.

A shorter one is a placeholder, as local servers accept, and may be an ordinary word.
"""


class KeyRing:
    """Keys of a provider. It starts with the first and keeps one that works. Without keys there is one empty key."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._keys = keys or ("",)
        self._rest_until = dict.fromkeys(range(len(self._keys)), 0.0)
        self._at = 0

    def __len__(self) -> int:
        return len(self._keys)

    def current(self, now: float) -> str:
        """Returns the key to use; if all are paused, the one whose pause ends first."""
        order = [(self._at + step) % len(self._keys) for step in range(len(self._keys))]
        awake = [at for at in order if self._rest_until[at] <= now]
        self._at = awake[0] if awake else min(order, key=self._rest_until.__getitem__)
        return self._keys[self._at]

    def pause(self, key: str, now: float, seconds: float) -> bool:
        """Pauses a key. Returns whether another key can be tried now."""
        self._rest_until[self._keys.index(key)] = now + seconds
        return any(until <= now for until in self._rest_until.values())

    def mask(self, text: str) -> str:
        """Masks all keys in a text, because services repeat what they were sent."""
        for key in self._keys:
            text = text.replace(key, "********") if len(key) >= MIN_SECRET_LENGTH else text
        return text
