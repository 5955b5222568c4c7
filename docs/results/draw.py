"""Write the page and the pictures of the committed results again: ``python docs/results/draw.py``.

The documentation is built from ``reproduce.md`` and ``figures/``.
"""

from pathlib import Path

from ifair.reproduce.results_page import write_page
from ifair.results import REPRODUCTION, read_results

HERE = Path(__file__).parent

if __name__ == "__main__":
    write_page(HERE, read_results(HERE / "reproduce.json", REPRODUCTION), "reproduce", alone=False)
