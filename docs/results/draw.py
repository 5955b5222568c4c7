"""Write the page and the pictures of the committed results again: ``python docs/results/draw.py``.

The documentation is built from ``reproduce.md`` and ``figures/``. With ``--times OTHER/results.json`` the times of the
units of another run of the full profile, on a machine with a GPU, are written into the package: ``ifair reproduce
--dry-run`` estimates from them where there is one. Two splits are enough:

    ifair reproduce --profile full --splits 2 --jobs 16 --output OTHER
"""

from argparse import ArgumentParser
from pathlib import Path

from ifair import reproduce
from ifair.reproduce.expected_time import average_units, known_times
from ifair.reproduce.results_page import write_page
from ifair.reproduce.runner import write_json
from ifair.results import REPRODUCTION, read_results

HERE = Path(__file__).parent

if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=Path, help="results of a run whose times are to be known")
    times = parser.parse_args().times
    if times is not None:
        table = {**known_times(), "with_gpu": average_units(read_results(times, REPRODUCTION))}
        write_json(Path(reproduce.__file__).parent / "unit_seconds.json", table)
    write_page(HERE, read_results(HERE / "reproduce.json", REPRODUCTION), "reproduce", alone=False)
