"""`python -m tools.settings_documents` writes the table of the settings that can be changed while the Host runs, and
their list for the page."""

from . import form, table

table.PAGE.write_text(table.with_table(table.PAGE.read_text(encoding="utf-8")), encoding="utf-8")
form.FILE.write_text(form.text(), encoding="utf-8")
