"""Imports a plugin and reports what is wrong with it: `python -m parlour_sdk.authoring.check PLUGIN`.

It runs as a separate process, so that faulty code harms nothing else. The verdict is one line of JSON on standard
output; output of the plugin goes to standard error. The process that starts it chooses the interpreter.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from parlour_sdk.plugin import PluginInvalid, load, read_plugin


def check(path: Path) -> dict[str, Any]:
    try:
        plugin = load(read_plugin(path))
    except PluginInvalid as error:
        return {"problem": str(error), "components": [], "warnings": []}
    components = [[each["kind"], each["name"]] for each in plugin.components]
    return {"problem": None, "components": components, "warnings": list(plugin.warnings)}


def main() -> None:
    answer = os.dup(1)
    os.dup2(2, 1)
    verdict = json.dumps(check(Path(sys.argv[1])))
    sys.stdout.flush()
    os.write(answer, f"{verdict}\n".encode())
    os._exit(0)  # a thread that the plugin's code started would keep the process running


if __name__ == "__main__":
    main()
