"""Makes files of every format with sentinels in texts, tables, notes and headings, in English and Chinese."""

import zipfile
from collections.abc import Callable
from pathlib import Path

from parlour.testing.documents import pdf

ENGLISH = "The harbour master keeps the tide table in room Albatross."
CHINESE = "港务长把潮汐表放在信天翁会议室。"
HEADING = "Tides 潮汐"
CELLS = (("Pier 码头", "Depth 水深"), ("Nine 九号", "4.2 m"))
NOTE = "Speaker note: mention the ferry 提到渡轮"

_BUILDERS: dict[str, Callable[[Path], None]] = {}


def builder(suffix: str) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    def register(build: Callable[[Path], None]) -> Callable[[Path], None]:
        _BUILDERS[suffix] = build
        return build

    return register


SUFFIXES = ("pdf", "docx", "pptx", "xlsx", "csv", "html", "epub", "md", "txt", "gb18030.txt", "big5.txt", "sjis.txt")


def make(folder: Path, suffix: str) -> Path:
    path = folder / f"sample.{suffix}"
    _BUILDERS[suffix](path)
    return path


@builder("docx")
def _docx(path: Path) -> None:
    from docx import Document

    document = Document()
    document.add_heading(HEADING, 1)
    document.add_paragraph(ENGLISH)
    document.add_paragraph(CHINESE)
    table = document.add_table(2, 2)
    for row, cells in enumerate(CELLS):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    document.sections[0].header.paragraphs[0].text = "HEADER-SENTINEL"
    document.save(str(path))


@builder("pptx")
def _pptx(path: Path) -> None:
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = HEADING
    slide.placeholders[1].text = f"{ENGLISH}\n{CHINESE}"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(4), Inches(4), Inches(1)).table
    for row, cells in enumerate(CELLS):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    slide.notes_slide.notes_text_frame.text = NOTE
    deck.save(str(path))


@builder("xlsx")
def _xlsx(path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    sheet.title = HEADING
    for row in (("Fact 事实", "Source 来源"), (ENGLISH, "1"), (CHINESE, "2"), *CELLS):
        sheet.append(row)
    book.save(path)


@builder("csv")
def _csv(path: Path) -> None:
    lines = ["Fact 事实,Source 来源", f'"{ENGLISH}",1', f'"{CHINESE}",2', *(",".join(row) for row in CELLS)]
    path.write_text("\n".join(lines), encoding="utf-8")


HTML = f"""<html><head><title>Page</title><style>p {{color: red}}</style><script>SCRIPT-SENTINEL</script></head><body>
<nav>NAVIGATION-SENTINEL</nav><h1>{HEADING}</h1><p>{ENGLISH}</p><p>{CHINESE}</p>
<table><tr><th>{CELLS[0][0]}</th><th>{CELLS[0][1]}</th></tr><tr><td>{CELLS[1][0]}</td><td>{CELLS[1][1]}</td></tr></table>
<footer>FOOTER-SENTINEL</footer></body></html>"""


@builder("html")
def _html(path: Path) -> None:
    path.write_text(HTML, encoding="utf-8")


@builder("epub")
def _epub(path: Path) -> None:
    container = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    package = (
        '<package><manifest><item id="c1" href="one.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="c1"/></spine></package>'
    )
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", container)
        book.writestr("OEBPS/book.opf", package)
        book.writestr("OEBPS/one.xhtml", HTML)


MARKDOWN = (
    f"# {HEADING}\n\n{ENGLISH}\n\n{CHINESE}\n\n```\n# no heading\n```\n\n"
    f"| {CELLS[0][0]} | {CELLS[0][1]} |\n|---|---|\n| {CELLS[1][0]} | {CELLS[1][1]} |\n"
)


@builder("md")
def _md(path: Path) -> None:
    path.write_text(MARKDOWN, encoding="utf-8")


@builder("txt")
def _txt(path: Path) -> None:
    path.write_text(f"{HEADING}\n\n{ENGLISH}\n\n{CHINESE}\n", encoding="utf-8")


@builder("gb18030.txt")
def _gb18030(path: Path) -> None:
    path.write_bytes(f"{ENGLISH}\n\n{CHINESE}\n".encode("gb18030"))


@builder("big5.txt")
def _big5(path: Path) -> None:
    path.write_bytes(f"{ENGLISH}\n\n港務長把潮汐表放在會議室裡，旅客可以在那裡找到時間。\n".encode("big5"))


@builder("sjis.txt")
def _sjis(path: Path) -> None:
    path.write_bytes(f"{ENGLISH}\n\n港の責任者は潮の表を会議室に置いています。\n".encode("shift_jis"))


@builder("pdf")
def _pdf(path: Path) -> None:
    path.write_bytes(pdf([[ENGLISH], ["Second page of the tide table."]]))
