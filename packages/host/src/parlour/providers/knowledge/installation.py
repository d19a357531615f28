"""Says whether the libraries of knowledge bases are installed, without importing them."""

import importlib.util

INSTALL_COMMAND = "uv pip install 'parlour[knowledge]'"
NEEDED = ("numpy", "wordllama", "tokenizers", "safetensors", "pypdf", "docx", "pptx", "openpyxl")


def is_installed() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in NEEDED)
