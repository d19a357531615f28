"""Implementations of the ports of knowledge bases: stores of vectors, embeddings, parsers of files.

Nothing here is imported before there is a knowledge base.
"""
