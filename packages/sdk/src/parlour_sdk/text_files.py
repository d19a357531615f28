"""Recognizes text files and documents, whose text a model can get instead of the file."""

from parlour_sdk.protocol.content import ContentElement, MediaElement

MAX_INLINE_BYTES = 20_000
"""Size up to which the text of a file is put into the prompt; the rest is read in pieces."""
PDF = "application/pdf"
_TYPES = ("application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml")
_ENDINGS = (
    *(".txt", ".md", ".csv", ".tsv", ".json", ".jsonl", ".xml", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".log"),
    *(".py", ".js", ".ts", ".tsx", ".java", ".c", ".h", ".cpp", ".go", ".rs", ".rb", ".sh", ".sql", ".html", ".css"),
)
_OFFICE = "application/vnd.openxmlformats-officedocument"
_DOCUMENTS = {
    PDF: ".pdf",
    f"{_OFFICE}.wordprocessingml.document": ".docx",
    f"{_OFFICE}.presentationml.presentation": ".pptx",
    f"{_OFFICE}.spreadsheetml.sheet": ".xlsx",
    "application/epub+zip": ".epub",
}


def is_inline_text(element: MediaElement) -> bool:
    """Returns whether a file is a text that is small enough for the prompt."""
    if element.type != "file" or element.artifact_id is None or element.size_bytes is None:
        return False
    kind, name = (element.mime_type or "").partition(";")[0], (element.name or "").lower()
    is_text = kind.startswith("text/") or kind in _TYPES or name.endswith(_ENDINGS)
    return is_text and element.size_bytes <= MAX_INLINE_BYTES


def is_document(element: ContentElement) -> bool:
    """Returns whether an element is a stored PDF, Word, PowerPoint, Excel or EPUB file, whose text the Host reads."""
    if not isinstance(element, MediaElement) or element.type != "file" or element.artifact_id is None:
        return False
    kind, name = (element.mime_type or "").partition(";")[0], (element.name or "").lower()
    return kind in _DOCUMENTS or name.endswith(tuple(_DOCUMENTS.values()))


def is_pdf(element: MediaElement) -> bool:
    """Returns whether a file is a PDF document, which some models read themselves."""
    return (element.mime_type or "").partition(";")[0] == PDF or (
        element.mime_type is None and (element.name or "").lower().endswith(".pdf")
    )
