"""The keys of one provider: which to use next, and which to leave alone for a while."""

REFUSED_SECONDS = 600.0
LIMITED_SECONDS = 30.0
SECRET_CHARACTERS = 8
"""A shorter one is a placeholder, such as servers at home take, and may be a word of any sentence."""


class KeyRing:
    """Starts with the first and stays with one that works. Without keys there is one that is empty."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._keys = keys or ("",)
        self._rest_until = dict.fromkeys(range(len(self._keys)), 0.0)
        self._at = 0

    def __len__(self) -> int:
        return len(self._keys)

    def current(self, now: float) -> str:
        """When all rest, the one whose rest ends first."""
        order = [(self._at + step) % len(self._keys) for step in range(len(self._keys))]
        awake = [at for at in order if self._rest_until[at] <= now]
        self._at = awake[0] if awake else min(order, key=self._rest_until.__getitem__)
        return self._keys[self._at]

    def rest(self, key: str, now: float, seconds: float) -> bool:
        """Whether another key can be tried at once."""
        self._rest_until[self._keys.index(key)] = now + seconds
        return any(until <= now for until in self._rest_until.values())

    def hide(self, text: str) -> str:
        """The text without any key in it: services repeat what they were sent."""
        for key in self._keys:
            text = text.replace(key, "********") if len(key) >= SECRET_CHARACTERS else text
        return text
