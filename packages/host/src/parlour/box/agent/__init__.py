"""The program that serves commands and files inside a sandbox. It needs the standard library only, and no sibling."""
