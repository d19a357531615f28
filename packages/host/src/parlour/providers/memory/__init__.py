"""The tools by which agents remember, recall and forget."""
