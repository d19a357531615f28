"""Makes small documents for tests: PDF files with lines of text, and Word files with paragraphs."""

import io
from collections.abc import Sequence


def pdf(pages: list[list[str]]) -> bytes:
    """Returns a PDF with lines of text on each page; written by hand, so that no library is needed."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for lines in pages:
        shown = " ".join(f"({line}) Tj 0 -20 Td" for line in lines)
        stream = f"BT /F1 12 Tf 72 720 Td {shown} ET".encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        content = len(objects)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % content
        )
        kids.append(len(objects))
    listed = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (listed, len(kids))
    output = io.BytesIO(b"%PDF-1.4\n")
    output.seek(0, io.SEEK_END)
    places = []
    for number, body in enumerate(objects, 1):
        places.append(output.tell())
        output.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = output.tell()
    output.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    output.writelines(b"%010d 00000 n \n" % place for place in places)
    output.write(b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return output.getvalue()


def word(paragraphs: Sequence[str]) -> bytes:
    """Returns a Word file with a heading and these paragraphs."""
    from docx import Document

    document = Document()
    document.add_heading("Harbour", 1)
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()
