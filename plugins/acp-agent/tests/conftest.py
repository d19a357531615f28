"""Makes the plugin's own modules importable, as its process does."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
