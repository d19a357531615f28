"""The Python environments that plugins with requirements run in."""
