"""Names of emojis: Slack and Mattermost name reactions, other platforms use the characters."""

from parlour.core.platforms.port import PlatformRefused

_NAMES = {
    "👍": "+1", "👎": "-1", "👌": "ok_hand", "👏": "clap", "🙏": "pray", "💪": "muscle", "👋": "wave",
    "❤️": "heart", "💔": "broken_heart", "🔥": "fire", "🎉": "tada", "✨": "sparkles", "⭐": "star",
    "💯": "100", "✅": "white_check_mark", "✔️": "heavy_check_mark", "❌": "x", "❗": "exclamation",
    "❓": "question", "⚠️": "warning", "🚀": "rocket", "👀": "eyes", "🤔": "thinking_face",
    "😀": "grinning", "😄": "smile", "😂": "joy", "🙂": "slightly_smiling_face", "😉": "wink", "😊": "blush",
    "😍": "heart_eyes", "😎": "sunglasses", "😢": "cry", "😭": "sob", "😡": "rage", "😱": "scream",
    "😮": "open_mouth", "😅": "sweat_smile", "🤯": "exploding_head", "🤝": "handshake",
    "🥳": "partying_face", "😴": "sleeping", "🤖": "robot_face", "💡": "bulb", "📌": "pushpin",
    "📎": "paperclip", "📝": "memo", "📅": "date", "⏳": "hourglass_flowing_sand", "⌛": "hourglass",
    "🔒": "lock", "🔑": "key", "🐛": "bug", "☕": "coffee", "🍕": "pizza", "🎂": "birthday", "🎁": "gift",
    "🏆": "trophy", "🌟": "star2", "➕": "heavy_plus_sign", "➖": "heavy_minus_sign", "🆗": "ok",
    "🔴": "red_circle", "🟢": "large_green_circle",
}  # fmt: skip
_CHARACTERS = {name: character for character, name in _NAMES.items()} | {"thumbsup": "👍", "thumbsdown": "👎"}


def emoji_name(reaction: str, service: str) -> str:
    """Returns the name of an emoji, which may be given by its name. Raises PlatformRefused for an unknown one."""
    name = _NAMES.get(reaction) or _NAMES.get(reaction.rstrip("\ufe0f")) or _NAMES.get(f"{reaction}\ufe0f")
    name = name or reaction.strip(":")
    if not name or not name.isascii():
        reason = f"reaction: {service} needs the name of this emoji, as thumbsup or :thumbsup:"
        raise PlatformRefused(reason, permanent=True)
    return name


def emoji_character(name: str) -> str:
    """Returns the character of a named emoji, or its name if it is a custom one or not known."""
    return _CHARACTERS.get(name, name)
