"""What a plugin author uses to write agents and plugins for Parlour."""

__version__ = "0.1.0"
