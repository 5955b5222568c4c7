"""Write the page and the pictures of the committed results again: ``python docs/results/draw.py``.

The documentation is built from ``reproduce.md`` and ``figures/``. The times of units, from which ``ifair reproduce
--dry-run`` estimates, are written into the package.
"""

from pathlib import Path

from ifair import reproduce
from ifair.reproduce.expected_time import average_units
from ifair.reproduce.results_page import write_page
from ifair.reproduce.runner import write_json
from ifair.results import REPRODUCTION, read_results

HERE = Path(__file__).parent

if __name__ == "__main__":
    results = read_results(HERE / "reproduce.json", REPRODUCTION)
    write_page(HERE, results, "reproduce", alone=False)
    write_json(Path(reproduce.__file__).parent / "unit_seconds.json", average_units(results))
