"""Write the page and the pictures of the committed results again: ``python docs/results/draw.py``.

The documentation is built from ``reproduce.md`` and ``figures/``.
"""

import json
from pathlib import Path

from ifair.cli.page import write_page

HERE = Path(__file__).parent

if __name__ == "__main__":
    write_page(HERE, json.loads((HERE / "reproduce.json").read_text(encoding="utf-8")), "reproduce", alone=False)
