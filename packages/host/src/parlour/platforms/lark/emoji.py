"""Names of emojis: Lark names reactions, other platforms use the characters."""

_NAMES = {
    "👍": "THUMBSUP", "👎": "ThumbsDown", "👌": "OK", "👏": "APPLAUSE", "🙏": "THANKS", "💪": "MUSCLE", "👋": "WAVE",
    "❤️": "HEART", "💔": "HEARTBROKEN", "🔥": "Fire", "🎉": "PARTY", "✅": "DONE", "✔️": "CheckMark", "❌": "CrossMark",
    "💯": "Hundred", "😀": "SMILE", "😄": "LAUGH", "😂": "LOL", "😉": "WINK", "😊": "BLUSH", "😍": "LOVE",
    "😎": "SMART", "😢": "CRY", "😭": "SOB", "😡": "ANGRY", "😱": "TERROR", "😅": "SWEAT", "🤝": "SHAKE", "😴": "SLEEP",
    "🤔": "THINKING", "🍺": "BEER", "🎂": "CAKE", "🎁": "GIFT", "🌹": "ROSE", "⏳": "Typing", "👀": "GLANCE",
    "📌": "Pin", "🚀": "FIREWORKS",
}  # fmt: skip
_CHARACTERS = {name: character for character, name in _NAMES.items()}


def emoji_name(reaction: str) -> str:
    """Returns Lark's name of an emoji, which may be given by its name."""
    return _NAMES.get(reaction) or _NAMES.get(reaction.rstrip("\ufe0f")) or _NAMES.get(f"{reaction}\ufe0f") or reaction


def emoji_character(name: str) -> str:
    """Returns the character of a named emoji, or its name if no character is known."""
    return _CHARACTERS.get(name, name)
