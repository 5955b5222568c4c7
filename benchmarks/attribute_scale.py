"""Should iFair learn from attributes in robust units, or from columns of unit variance as in the paper?

    python benchmarks/attribute_scale.py [--quick] [--json FILE]

German Credit, COMPAS and Census (at most 500 people to learn from and 500 to measure), as they are and with 4 % of the
cells of every unprotected attribute emptied at random. iFair with frozen protected columns at eight settings (K of 10
and 20, four weights of fairness), logistic regression on top, three splits. "volume": hypervolume in hundredths of
the front of score AUC above 0.5 and consistency of ranks, by the similarity of attributes and by the paper's reading,
chosen on validation and measured on test. "gap neighbours": of the neighbours of people with a gap, the share that has
one too, in the representation's own input; "gap people" is what it would be at random.
"""

from itertools import product

import numpy as np

import common
from ifair.core.nearest import nearest
from ifair.data import load
from ifair.encode import Encoder
from ifair.evaluate.candidates import Candidate
from ifair.evaluate.fronts import front_volume
from ifair.evaluate.splits import Part, split_dataset
from ifair.evaluate.training import train
from ifair.metrics import auc, rank_consistency

SETTINGS = [{"K": K, "share": share, "variant": "frozen"} for K in (10, 20) for share in (0.01, 0.1, 0.5, 0.9)]


def with_gaps(people, seed: int, share: float):
    """The dataset with some cells of every unprotected attribute emptied."""
    rng = np.random.default_rng(seed)
    frame = people.frame.copy()
    for name in frame.columns:
        if name not in people.protected:
            frame[name] = frame[name].astype(object).where(rng.random(len(frame)) >= share).infer_objects()
    return type(people)(**{**vars(people), "frame": frame})


def gap_neighbours(part: Part) -> tuple[float, float]:
    """Share of neighbours with a gap, of people with one; and share of such people."""
    has_gap = part.records.frame.isna().any(axis=1).to_numpy()
    near = nearest(part.may_count, 10)[0]
    return float(has_gap[near[has_gap]].mean()) if has_gap.any() else float("nan"), float(has_gap.mean())


def judge(scores: np.ndarray, part: Part) -> dict[str, float]:
    return {"AUC": auc(part.y, scores), "ranks": rank_consistency(scores, neighbours=part.neighbours)}


def measure(name: str, gaps: float, scale: str, seeds: range, settings: list) -> dict[str, object]:
    found: dict[str, list[float]] = {}
    for seed in seeds:
        people = load(name)
        people = people.take(np.random.default_rng(seed).permutation(len(people))[:1500])
        people = with_gaps(people, seed, gaps) if gaps else people
        parts = split_dataset(people, seed, encoder=Encoder(scale=scale), stratify=True, similarity="attributes")
        # The paper's reading measures columns of unit variance, whatever the model learned from.
        unit = split_dataset(people, seed, encoder=Encoder(), stratify=True)
        models = [train(Candidate("ifair", s), parts, seed, {"n_restarts": 1, "max_iter": 100}) for s in settings]
        for grader, graded in (("attributes", parts), ("paper", unit)):
            rows = [
                {
                    which: judge(trained.outcome(getattr(parts, which)).scores, getattr(graded, which))
                    for which in ("validation", "test")
                }
                for trained in models
            ]
            found.setdefault(f"volume, {grader}", []).append(100 * front_volume(rows, ("AUC", "ranks"), (0.5, 0.0)))
        found.setdefault("best AUC", []).append(max(row["test"]["AUC"] for row in rows))
        near, people_with = gap_neighbours(parts.test)
        found.setdefault("gap neighbours", []).append(near)
        found.setdefault("gap people", []).append(people_with)
    row = {key: round(float(np.mean(values)), 2) for key, values in found.items()}
    return {"dataset": name, "gaps": "4 %" if gaps else "none added", "scale": scale, **row}


def main(arguments: list[str] | None = None) -> common.Rows:
    options = common.options(__doc__).parse_args(arguments)
    machine, rows = common.Machine(), list[dict[str, object]]()
    names, seeds = (["credit"], range(1)) if options.quick else (["credit", "compas", "census"], range(3))
    settings = SETTINGS[:2] if options.quick else SETTINGS
    for name, gaps, scale in product(names, (0.0, 0.04), ("unit-variance", "attribute")):
        rows.append(measure(name, gaps, scale, seeds, settings))
    return common.report("Scale of attributes", rows, machine, options.json)


if __name__ == "__main__":
    main()
