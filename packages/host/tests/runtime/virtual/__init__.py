"""Supervision on virtual time, with plugins that live in the test's own loop."""
