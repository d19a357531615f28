"""A handler type is written into six files: its handler, its construction, its form, the page and two locales."""

from parlour.http.bots.handler_types import HANDLER_FORMS, DropForm, HandlerForm
from tools.handler_documents import PAGE, with_table

from .pages import ROOT


class ToyForm(HandlerForm):
    """Prints the event.

    Configuration: `pages`
    """

    body = DropForm.body


def test_the_table_of_handlers_in_the_guide_is_current() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")

    assert with_table(page) == page


def test_a_new_handler_type_is_in_the_guide_and_has_an_outcome_without_further_text() -> None:
    page = with_table((ROOT / PAGE).read_text(encoding="utf-8"), {**HANDLER_FORMS, "print": ToyForm})

    assert "| `print` | `pages` | prints the event |" in page
    assert ToyForm.outcome(None, has_listeners=False) == ("outcome_handled", {})
