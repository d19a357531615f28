"""Writes down what the HTTP interface is: the OpenAPI document, and a page to read."""
