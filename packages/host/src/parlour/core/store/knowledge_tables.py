"""Defines the tables of knowledge bases. The vectors of their passages are in a vector store, which can be rebuilt."""

from parlour.core.journal import Table

from .columns import columns

KNOWLEDGE_BASES = Table(
    "knowledge_bases",
    columns("kb_id name definition state", "generation dimension files chunks bytes created_at updated_at"),
    key=("kb_id",),
)
"""Knowledge bases. `generation` counts how often all vectors were made anew; `files`, `chunks` and `bytes` count what
can be found. They stay until an operator deletes them.
"""

KNOWLEDGE_FILES = Table(
    "knowledge_files",
    columns(
        "file_id kb_id name mime_type sha256 artifact_id source address metadata options state job_id error_code error "
        "parser",
        "generation size_bytes pages chunks refreshed_at created_at updated_at",
    ),
    key=("file_id",),
    indexes=(("kb_id", "name"), ("kb_id", "file_id"), ("kb_id", "sha256"), ("artifact_id",)),
)
"""Files of knowledge bases. Passages of the current `generation` can be found; 0 means that there are none yet.

They stay as long as their base, or until an operator deletes them.
"""

KNOWLEDGE_CHUNKS = Table(
    "knowledge_chunks",
    columns(
        "chunk_id kb_id file_id text heading hints words origin",
        "generation position page char_start char_end tokens enabled updated_at",
    ),
    key=("chunk_id",),
    indexes=(("kb_id", "chunk_id"), ("file_id", "generation", "position")),
)
"""Passages of files. `words` has the search words of the text; the full-text index uses them. `origin` is empty for a
passage of the file, `edited` for one that was changed, and `added` for one that an operator wrote.
"""
