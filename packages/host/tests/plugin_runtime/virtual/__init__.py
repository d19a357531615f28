"""Supervision on virtual time, with plugins that run in the test's own loop."""
