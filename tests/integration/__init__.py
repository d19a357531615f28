"""Tests the whole product over its own interfaces: a real Host process, real plugin processes, real clients."""
