"""Tests invalid bytes on the connections of a real Host."""
