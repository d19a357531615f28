"""`python -m tools.handler_documents` writes the table of handler types in the guide from their forms."""

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path

from parlour.http.bots.handler_types import HANDLER_FORMS, HandlerForm

PAGE = Path("docs/guide/routing.md")
BEGIN = "<!-- Written by `make documents` from the forms in http/bots/handler_types.py. -->\n"
END = "<!-- End of the table. -->\n"


def with_table(page: str, forms: Mapping[str, type[HandlerForm]] = HANDLER_FORMS) -> str:
    """Returns the page with the present table between its marks."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n" + "\n".join(_rows(forms)) + "\n\n" + END + rest.split(END)[1]


def _rows(forms: Mapping[str, type[HandlerForm]]) -> Iterator[str]:
    yield "| handler | config | effect |"
    yield "| --- | --- | --- |"
    for name, form in forms.items():
        text, _, config = (inspect.getdoc(form) or "").partition("Configuration:")
        effect = text.split(".")[0].strip()
        yield " ".join(["|", f"`{name}`", "|", *config.split(), "|", effect[:1].lower() + effect[1:], "|"])


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
