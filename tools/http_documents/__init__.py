"""Writes the documents of the HTTP interface: the OpenAPI document and the reference page."""
