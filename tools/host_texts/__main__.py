"""`python -m tools.host_texts` lists texts of the Host without a translation, and stale translations."""

import sys

from .check import languages, stale, untranslated


def main() -> int:
    problems = 0
    for language in languages():
        for template, module in untranslated(language).items():
            sys.stdout.write(f"{language}: {module} has no translation: {template!r}\n")
            problems += 1
        for template in sorted(stale(language)):
            sys.stdout.write(f"{language}: is in the source no more: {template!r}\n")
            problems += 1
    return 1 if problems else 0


sys.exit(main())
