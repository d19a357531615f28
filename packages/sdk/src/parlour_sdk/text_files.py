"""Recognizes small text files, which models get as text."""

from parlour_sdk.protocol.content import MediaElement

MAX_INLINE_BYTES = 20_000
"""Size up to which a text file is put into the prompt; a larger one is named, and read in pieces."""
_TYPES = ("application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml")
_ENDINGS = (
    *(".txt", ".md", ".csv", ".tsv", ".json", ".jsonl", ".xml", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".log"),
    *(".py", ".js", ".ts", ".tsx", ".java", ".c", ".h", ".cpp", ".go", ".rs", ".rb", ".sh", ".sql", ".html", ".css"),
)


def is_inline_text(element: MediaElement) -> bool:
    """Returns whether a file is a text that is small enough for the prompt."""
    if element.type != "file" or element.artifact_id is None or element.size_bytes is None:
        return False
    kind, name = (element.mime_type or "").partition(";")[0], (element.name or "").lower()
    is_text = kind.startswith("text/") or kind in _TYPES or name.endswith(_ENDINGS)
    return is_text and element.size_bytes <= MAX_INLINE_BYTES
