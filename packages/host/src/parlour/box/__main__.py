"""Starts the Box on standard input and output, for the Host that has started this process."""

from .stdio import main

if __name__ == "__main__":
    main()
