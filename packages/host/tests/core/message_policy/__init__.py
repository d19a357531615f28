"""Tests of message policies."""
