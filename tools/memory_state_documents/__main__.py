"""`python -m tools.memory_state_documents` writes the page about in-memory state."""

from . import PAGE, text

PAGE.write_text(text().rstrip() + "\n", encoding="utf-8")
