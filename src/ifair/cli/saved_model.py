"""A saved pipeline at work on a table: what the verbs that take a MODEL share."""

import os
import sys
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from ifair.cli.terminal_text import tell_warnings, warn
from ifair.errors import IfairError, count_words, format_given, format_rounded, name_setting, unknown_name


def load_model(path: Path, trusted: tuple[str, ...] = ()) -> Any:
    """The estimator in a file; warnings go to standard error. Types of the user's may lie in the working folder."""
    import ifair

    if trusted and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    with tell_warnings():
        return ifair.load(path, trusted=trusted)


def refuse_swapped(model: Path, table: Path, order: str) -> None:
    """Refuse a table that stands where the model belongs, with the order in which the verb takes them."""
    from ifair.tables.read import CSV, PARQUET

    if model.name.lower().endswith((*CSV, *PARQUET)) and not table.name.lower().endswith((*CSV, *PARQUET)):
        raise IfairError(f"{model} is a table, not a model; were the two swapped? The order is `{order}`")


class Model:
    """A pipeline of ``ifair fit``, or consistent decisions around one, with the roles of its columns.

    ``missing`` is what stands for a missing value besides an empty cell, by default what did when the model was fitted;
    ``trusted`` are types in the file that the user vouches for. Roles, and who is decided about positively
    (``decision``: ``threshold``, and ``rate`` where one was asked for), are those recorded when it was fitted; none for
    a file made otherwise. ``attributes`` are the columns that a table must have.
    """

    def __init__(self, path: Path, missing: tuple[str, ...] = (), trusted: tuple[str, ...] = ()) -> None:
        import ifair
        from ifair.encode import Encoder
        from ifair.models.consistent_model import ConsistentModel
        from ifair.tables.roles import Roles

        self.path = path
        self.pipeline = load_model(path, trusted)
        self.consistent = isinstance(self.pipeline, ConsistentModel)
        inner = self.pipeline.estimator_ if self.consistent else self.pipeline
        steps = list(getattr(inner, "named_steps", {}).values())
        self._inner = inner
        if len(steps) < 2 or not isinstance(steps[0], Encoder):
            raise IfairError(f"{path} holds no pipeline that starts with an Encoder; `ifair fit` makes such files")
        self.encoder: Any = steps[0]
        about = ifair.inspect(path).get("about") or {}
        self.roles = Roles.from_dict(about.get("roles", {}), where=str(path))
        self.decision: dict[str, Any] = about.get("decision") or {}
        self.missing = missing or self.roles.missing
        self.attributes: list[str] = list(self.encoder.attributes_)
        self.decides = not hasattr(steps[-1], "transform")
        self._new: dict[tuple[str, Any], list[int]] = {}
        self._far: dict[str, Any] = {}
        self._marked: dict[str, Counter[str]] = defaultdict(Counter)

    def check_records(self, block: Any, *, strict: bool = False) -> Any:
        """The attributes of a block, typed as in fit, after a check that names column, row and value.

        The index of the block counts the rows of the table from 0. Categories that the model never saw are counted for
        :meth:`warn_of_cells`, or with ``strict`` refused; numbers far from those that it saw are counted.
        """
        from ifair.encode.unexpected_cells import (
            find_far_numbers,
            find_new_categories,
            find_unreadable_cells,
            list_column_contents,
        )
        from ifair.tables.cell_types import LONG_CELL, apply_types, mark_missing, show_cell

        for name in self.attributes:
            if name not in block.columns:
                raise unknown_name("column", name, block.columns, f", which {self.path.name} needs")
        frame, marked = mark_missing(block[self.attributes], self.missing)
        frame = apply_types(frame, list_column_contents(self.encoder))
        for name, spelt in marked.items():
            self._marked[name].update(spelt)
        first = int(block.index[0]) + 1
        for cell in find_unreadable_cells(self.encoder, frame):
            # As it stands in the table: digits without end are infinite by now.
            given = block[cell.column].iloc[[cell.row]].tolist()[0]
            short = len(str(given)) <= LONG_CELL
            hint = f", or take it as missing with {name_setting('missing', [str(given)])}" if short else ""
            raise IfairError(
                f"column {cell.column!r}, row {first + cell.row}: {show_cell(given)} where the model learned from "
                f"numbers; mend it{hint}"
            )
        for cell, count in find_new_categories(self.encoder, frame):
            if strict:
                raise IfairError(
                    f"column {cell.column!r}, row {first + cell.row}: new category {show_cell(cell.value)}"
                )
            seen = self._new.setdefault((cell.column, cell.value), [first + cell.row, 0])
            seen[1] += count
        for far in find_far_numbers(self.encoder, frame):
            self._count_far(far, first)
        return frame

    def _count_far(self, far: Any, first: int) -> None:
        """Add a block's far numbers of a column, whose first row is ``first``, to those of the blocks before."""
        cell = far.furthest._replace(row=first + far.furthest.row)
        so_far = self._far.get(cell.column)
        people = far.people + (so_far.people if so_far else 0)
        furthest = so_far if so_far and so_far.distance >= far.distance else far._replace(furthest=cell)
        self._far[cell.column] = furthest._replace(people=people)

    def represent(self, records: Any) -> Any:
        """The representation of records, a DataFrame of shape (n_records, n_features_out)."""
        import pandas as pd

        if not self.represents:
            raise IfairError(f"{self.path} holds consistent decisions and no representation: use `ifair decide`")
        steps = self._inner[:-1] if self.decides else self._inner
        found = self._call(steps.transform, records)
        return pd.DataFrame(found, columns=list(steps.get_feature_names_out()), index=records.index)

    def score(self, records: Any) -> Any:
        """Probability of the positive outcome, of several classes that of the decided one, or the predicted number.

        Shape (n_records,).
        """
        self.check_decides()
        if hasattr(self.pipeline, "predict_proba"):
            found = self._call(self.pipeline.predict_proba, records)
            return found.max(axis=1) if self.classes else found[:, -1]
        return self._call(self.pipeline.predict, records)

    def decide(self, records: Any) -> Any:
        """Predicted outcome, 1 for the positive one, or of several classes its name; shape (n_records,)."""
        if self.classifies and self.decision.get("threshold") is not None and not self.classes:
            return (self.score(records) > self.decision["threshold"]).astype(int)
        return self._call(self.pipeline.predict, records)

    def decide_classes(self, records: Any, peers: str = "batch") -> Any:
        """Of a model of several classes a row per person: the class of all decided together, and the model's own.

        With the probability of the class, whether it is another than the model's own, and the probability of every one.
        With ``peers`` "training", everybody is compared by themselves with the training people.
        """
        import numpy as np
        import pandas as pd

        names = np.asarray(self.classes, dtype=object)
        plain = self._call(self._inner.predict_proba, records)
        ask = self.pipeline.predict_proba if peers == "training" or not self.consistent else self.pipeline.scores
        together = self._call(ask, records)
        chosen, alone = names[together.argmax(axis=1)], names[plain.argmax(axis=1)]
        found = {"decision": chosen, "score": together.max(axis=1), "model_decision": alone}
        found |= {"changed": (chosen != alone).astype(int)}
        found |= {f"score_{name}": together[:, i] for i, name in enumerate(names)}
        return pd.DataFrame(found, index=records.index)

    @property
    def classes(self) -> list[str]:
        """The names of more than two classes; of two, and of numbers, none."""
        found = self.pipeline.classes_ if self.classifies else []
        return [str(name) for name in found] if len(found) > 2 else []

    def decide_batch(self, records: Any, labels: list[Any], **wanted: Any) -> Any:
        """Decisions about all records at once, a :class:`ifair.models.batch_decisions.BatchDecisions`.

        Its explanations call people by the labels; other arguments as of :meth:`ifair.ConsistentClassifier.decide`.
        """
        self.check_decides()
        people = self._select_seen(records).set_axis(labels)
        try:
            model = self.pipeline if self.consistent else self._show_peers(people)
            return model.decide(people, **wanted)
        except (ValueError, TypeError) as error:
            # It is about the whole batch: which rows need not be said.
            raise IfairError(str(error)) from error

    def _show_peers(self, people: Any) -> Any:
        """A model without consistency as one of strength 0: nothing changes, and everybody's peers are known."""
        from sklearn.frozen import FrozenEstimator

        from ifair.models.consistent import ConsistentClassifier, ConsistentRegressor

        kind = ConsistentClassifier if self.classifies else ConsistentRegressor
        seen = [name for name in self.roles.protected if name in people.columns]
        model = kind(FrozenEstimator(self.pipeline), strength=0.0, protected=seen or None)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="the inner estimator can see protected columns")
            return model.fit(people, [0] * len(people))

    def check_decides(self) -> None:
        """Refuse to decide by a representation alone."""
        if not self.decides:
            raise IfairError(f"{self.path} decides nothing: it was fitted without --target")

    @property
    def n_reference(self) -> int:
        """How many training people it keeps to compare others with."""
        return len(self.pipeline.reference_scores_) if self.consistent else 0

    @property
    def represents(self) -> bool:
        """Whether it holds a representation, and not decisions on the attributes alone."""
        return not self.consistent or len(self._inner) > 2

    @property
    def classifies(self) -> bool:
        return self.decides and hasattr(self.pipeline, "predict_proba")

    def warn_of_cells(self) -> None:
        """Say on standard error which cells were taken as missing, which were new or far from all seen, and where."""
        from ifair.tables.cell_types import describe_missing, show_cell

        warn(*describe_missing(self._marked))
        news = (
            f"column {column!r}: category {show_cell(value)} is new to the model "
            + (f"(row {row})" if count == 1 else f"({count:,} rows, first in row {row})")
            + "; such rows count as none of the known categories"
            for (column, value), (row, count) in self._new.items()
        )
        warn(*news)
        for column, far in self._far.items():
            who = count_words(far.people, "person has a number", "people have numbers")
            learned = f"mean {format_rounded(far.mean)}, spread {format_rounded(far.spread)}"
            which = "" if far.people == 1 else "the furthest is "
            warn(
                f"column {column!r}: {who} far from those that the model learned from ({learned}): {which}"
                f"{format_given(far.furthest.value)} in row {far.furthest.row}; what the model says of such people "
                "is a guess: mend the cell, or empty it if it is no value"
            )

    def _call(self, method: Any, records: Any) -> Any:
        """Call a method of the pipeline; what it refuses is told with the rows."""
        try:
            return method(self._select_seen(records))
        except (ValueError, TypeError) as error:
            rows = f"rows {int(records.index[0]) + 1} to {int(records.index[-1]) + 1}"
            raise IfairError(f"{rows}: {error}") from error

    def _select_seen(self, records: Any) -> Any:
        """The columns that the pipeline was fitted with; protected ones that are not looked at may be missing."""
        return records.reindex(columns=list(self.pipeline.feature_names_in_)) if self.consistent else records
