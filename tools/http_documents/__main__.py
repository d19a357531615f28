"""`python -m tools.http_documents` writes the OpenAPI document that is part of the release, and the reference page."""

from pathlib import Path

from parlour.http import openapi

from . import document
from .reference import page

made = document.made()
openapi.FILE.write_text(document.text(made), encoding="utf-8")
reference = Path("docs/reference/http.md")
reference.parent.mkdir(parents=True, exist_ok=True)
reference.write_text(page(made), encoding="utf-8")
