"""Tests that a message on a platform names the sources that it cites, and no others."""

from parlour.core.delivery.rendering.sources import source_list

CITATIONS = [
    {"number": 1, "file_name": "handbook.pdf", "page": 3},
    {"number": 2, "file_name": "费用.xlsx"},
    {"number": 3, "file_name": "unused.txt"},
    {"number": 4},
    "nonsense",
]


def test_cited_sources_are_named_with_their_page() -> None:
    message = {"content": "Ten days [1], see also [2] and [4].", "metadata": {"citations": CITATIONS}}
    assert source_list(message) == "\n\n[1] handbook.pdf, p. 3\n[2] 费用.xlsx"


def test_a_message_that_cites_nothing_stays_as_it_is() -> None:
    assert source_list({"content": "Ten days.", "metadata": {"citations": CITATIONS}}) == ""
    assert source_list({"content": "Ten days [1]."}) == ""
    assert source_list({"content": [{"type": "text", "text": "[1]"}], "metadata": {"citations": CITATIONS}}) == ""
