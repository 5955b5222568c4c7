"""Tables that are not what a table should be, through every verb that reads one."""

import csv
import io
import random

import numpy as np
import pandas as pd
from damage import damage
from hostile.outcomes import new_folder, try_command

from ifair.plain_data import parse_json
from ifair.results import EVIDENCE, TUNING, read_results

from samples import staff

ROWS = 120
ROLES = ["-p", "sex", "--id", "person", "--target", "hired", "--positive", "yes"]
ROLES += ["--ignore", "rating", "--ignore", "team"]


def good_rows():
    """A header and the cells of a good table, as text."""
    return list(csv.reader(io.StringIO(staff(ROWS).to_csv(index=False))))


NASTY = [
    *("", " ", "NA", "None", "null", "nan", "N/A", "NaN", "NULL", "#N/A", "inf", "-inf", "1e400", "-1e308", "1e-320"),
    *("2x", "true", "1,5", "0x10", "-0", "+5", "007", "1_000", "２", "2020-01-01"),
    *("9" * 401, str(2**53 + 1), str(2**64)),
    *("\x00", "a\nb", 'a"b', "a,b", "=1+1", "<script>", "__proto__", "🙂", "\u202eabc", "x" * 5000, "\ufeff", "\t"),
]


def spoil_cells(rows, rng):
    """A few odd cells."""
    for _ in range(rng.choice([1, 1, 3, 40])):
        rows[rng.randrange(1, len(rows))][rng.randrange(len(rows[0]))] = rng.choice(NASTY)


def spoil_column(rows, rng):
    """A column of one odd value, of no value, of different values, or of a few odd ones."""
    column = rng.randrange(len(rows[0]))
    values = rng.choice([[rng.choice(NASTY)], [""], [f"v{i}" for i in range(ROWS)], rng.sample(NASTY, 3), ["1", "0"]])
    for i, row in enumerate(rows[1:]):
        row[column] = values[i % len(values)]


def spoil_header(rows, rng):
    """A name that is odd, taken, empty or one that outputs use."""
    names = ["", "sex", "score", "decision", "rank", "fair_score", "moved", "__proto__", "a.b", "x\ny", "Unnamed: 0"]
    rows[0] = list(rows[0])
    rows[0][rng.randrange(len(rows[0]))] = rng.choice([*names, *NASTY])


def spoil_shape(rows, rng):
    """Too few rows, too few columns, or lines of other lengths."""
    how = rng.randrange(5)
    if how == 0:
        del rows[rng.choice([0, 1, 2, 3, 12, 40]) :]
    elif how == 1:
        keep = rng.sample(range(len(rows[0])), rng.choice([1, 2, 5]))
        rows[:] = [[row[i] for i in sorted(keep)] for row in rows]
    elif how == 2:
        del rows[rng.randrange(1, len(rows))][rng.randrange(4) :]
    elif how == 3:
        rows[rng.randrange(1, len(rows))].append("more")
    else:
        rows.insert(rng.randrange(1, len(rows)), [])


def spoil_outcome(rows, rng):
    """One positive, none, three kinds, or gaps in the outcome."""
    values = rng.choice(
        [["no"] * (ROWS - 1) + ["yes"], ["no"], ["no", "yes", "z"], ["no", "yes", ""], ["1", "0", "0.5"]]
    )
    for i, row in enumerate(rows[1:]):
        row[-1] = values[i % len(values)]


def spoil_nothing(rows, rng):
    """The table as it is, so that only its bytes are spoiled, or nothing."""


SPOILERS = [spoil_cells, spoil_cells, spoil_column, spoil_header, spoil_shape, spoil_outcome, spoil_nothing]


def write_bytes(rows, rng):
    """The table as a file, mostly a proper one."""
    text = io.StringIO()
    ends = rng.choice(["\n", "\n", "\r\n"])
    csv.writer(text, delimiter=rng.choice(",,,,,,,,,,;\t"), lineterminator=ends).writerows(rows)
    content = text.getvalue().encode(rng.choice(["utf-8"] * 20 + ["utf-8-sig", "latin-1", "utf-16"]), errors="replace")
    return damage(content, rng) if rng.random() < 0.15 else content


def count_rows(path):
    """Rows and header by Python's own reader, or None where it reads none."""
    content = path.read_bytes()
    if b"\x00" in content:
        return None
    try:
        rows = [row for row in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")) if row]
    except (UnicodeDecodeError, csv.Error):
        return None
    return rows if rows and all(len(row) == len(rows[0]) for row in rows) else None


def read_cells(path):
    """An output as text, cell by cell."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def read_typed(path):
    """An output as numbers and text."""
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


class TableTrial:
    """One table through the verbs; ``models`` is a folder with models that were learned from the good one."""

    def __init__(self, folder, models, number, seed):
        rng = random.Random(f"{seed} {number}")
        rows = [list(row) for row in good_rows()]
        rng.choice(SPOILERS)(rows, rng)
        self.folder, self.table, self.model = folder, folder / "people.csv", models / "hired.ifair"
        self.table.write_bytes(write_bytes(rows, rng))
        self.known = count_rows(self.table)
        self.rng = rng

    def expect_rows(self, frame):
        if self.known is not None and len(frame) != len(self.known) - 1:
            return f"{len(self.known) - 1} rows became {len(frame)}"
        return ""

    def fit(self):
        """A model that fits the table loads, and represents or decides about all rows of it."""
        output = self.folder / "m.ifair"
        solver = ["-k", "3", "--restarts", "1", "--max-iter", "20", "--jobs", "1"]
        how = self.rng.choice([solver, [*solver, "--no-freeze"], ["--consistent", "0.5"]])

        def check(_):
            used = self.folder / "used.csv"
            again, what = try_command(
                self.folder, ["transform", output, self.table, "--decide", "-o", used], lambda _: ""
            )
            return self.expect_rows(read_cells(used)) if again == "accepted" else f"its use is {again}: {what}"

        return try_command(self.folder, ["fit", self.table, *ROLES, *how, "-o", output], check)

    def transform(self):
        """As many rows as there are, finite, and the same whatever the blocks."""
        output, other = self.folder / "t.csv", self.folder / "t7.csv"
        arguments = ["transform", self.model, self.table, *self.rng.choice([[], ["--decide"]])]

        def check(_):
            again, what = try_command(self.folder, [*arguments, "-o", other, "--block-rows", 7], lambda _: "")
            if again != "accepted":
                return f"in blocks of seven rows it is {again}: {what}"
            frame = read_typed(output)
            # BLAS adds up in another order for another number of rows, and distances are differences of such sums.
            pd.testing.assert_frame_equal(frame, read_typed(other), rtol=1e-12, atol=1e-12)
            infinite = np.isinf(frame.select_dtypes("number").to_numpy(dtype=float)).any()
            return self.expect_rows(frame) or ("infinite numbers" if infinite else "")

        return try_command(self.folder, [*arguments, "-o", output], check)

    def decide(self):
        """Everybody is decided about once, under their own id, and as many are selected as asked for."""
        output, n = self.folder / "d.csv", self.rng.randrange(5)
        parity = ["--rate", "0.5", "--parity", "selection", "--groups", "sex"]
        how = self.rng.choice([["--n", n], ["--threshold", "0.5"], parity])

        def check(_):
            frame = read_cells(output)
            wrong = self.expect_rows(frame)
            if "--n" in how and (frame["decision"] == "1").sum() != min(n, len(frame)):
                wrong = f"not {n} were selected"
            if not wrong and self.known is not None and "person" in frame and self.known[0].count("person") == 1:
                ids = [row[self.known[0].index("person")] for row in self.known[1:]]
                wrong = "" if sorted(frame["person"]) == sorted(ids) else "other ids than in the table"
            return wrong

        model = self.model.with_name("consistent.ifair")
        return try_command(self.folder, ["decide", self.table, "--model", model, *how, "-o", output], check)

    def rank(self):
        """The same rows in another order, cell by cell, with places from 1 to the size of each query."""
        output = self.folder / "r.csv"
        roles = ["-p", "sex", "--query", "team", "--score", "rating", "--min-share", "0.3"]

        def check(printed):
            frame = read_cells(output)
            facts = parse_json(printed.encode())["queries"]
            if sum(one["candidates"] for one in facts) != len(frame):
                return "candidates and rows differ"
            if self.known is None or self.expect_rows(frame):
                return self.expect_rows(frame)
            width = len(self.known[0])
            cells = sorted(map(tuple, frame.iloc[:, :width].to_numpy().tolist()))
            return "" if cells == sorted(map(tuple, self.known[1:])) else "cells that were not touched changed"

        return try_command(self.folder, ["rank", self.table, *roles, "-o", output, "--json"], check)

    def judge(self, verb):
        """Evidence and tunings are about everybody, and hold what they should."""
        output = self.folder / {"audit": "e.json", "tune": "t.json", "report": "r.html"}[verb]
        more = ["--trials", "2"] if verb == "tune" else ["--resamples", "10", "--jobs", "1"]
        more += ["--estimator", "linear"]
        if verb == "audit":
            more += self.rng.choice([[], ["--scores", "rating", "--rate", "0.5"]])

        def check(_):
            if verb == "report":
                return "" if output.read_text(encoding="utf-8").startswith("<!doctype html>") else "no page"
            found = read_results(output, TUNING if verb == "tune" else EVIDENCE)
            if verb == "tune" and not found["front"]:
                return "an empty front"
            if self.known is not None and found["data"]["records"] != len(self.known) - 1:
                return f"about {found['data']['records']} of {len(self.known) - 1} people"
            return self._compare_gaps(found) if verb == "audit" and self.known is not None else ""

        return try_command(self.folder, [verb, self.table, *ROLES, *more, "-o", output], check, kept=[".journal"])

    def _compare_gaps(self, found):
        """Missing is an empty cell, and nothing else."""
        for column in found["data"]["columns"]:
            if self.known[0].count(column["name"]) == 1:
                place = self.known[0].index(column["name"])
                empty = sum(not row[place] for row in self.known[1:])
                if column["missing"] != empty:
                    return f"{column['missing']} missing in {column['name']!r}, of {empty} empty cells"
        return ""


QUICK = ("fit", "transform", "decide", "rank")
SLOW = ("audit", "tune", "report")


def try_tables(tally, models, seed, n_quick, n_slow):
    """So many tables through the quick verbs, the first of them through those that judge, too."""
    for number in range(n_quick):
        for verb in (*QUICK, *(SLOW if number < n_slow else ())):
            with new_folder() as folder:
                trial = TableTrial(folder, models, number, seed)
                outcome, what = trial.judge(verb) if verb in SLOW else getattr(trial, verb)()
            tally.add(f"tables: {verb}", outcome, f"table {number}: {what}")
