"""What people ask of learned prototypes: whom they stand for, and what they promise of every model."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ifair.encode import Encoder
from ifair.errors import IfairError
from ifair.metrics.individual import consistency
from ifair.models.prototypes import PrototypeModel
from ifair.similarity import Similarity


class ReadablePrototypes(PrototypeModel):
    """Prototypes as tables that one can read, and the bound that holds for every model of the nearest ones."""

    def consistency_bound(
        self, X: Any, *, neighbours: Any = None, n_neighbors: int = 10, similarity: Similarity | None = None
    ) -> float:
        """How consistent every model trained on the nearest prototypes is at least, whatever it learns.

        The share of everybody's neighbours who have the same prototype, averaged over people. Needs
        ``output="nearest"``, which may also be set after fitting: ``model.set_params(output="nearest")``.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The people that the model will decide about, such as those fitted on.
        neighbours : int array of shape (n_samples, k), optional
            Everybody's neighbours in X, as of :func:`ifair.metrics.nearest_neighbours` or
            ``Similarity.neighbours(people).indices``. -1 stands for nobody within reach; people without any neighbour
            are left out. By default those nearest on the unprotected columns.
        n_neighbors : int, default=10
            How many to search, where they are not given.
        similarity : Similarity, optional
            Searches the neighbours: one that is fitted, and whose attributes are columns of X.

        Returns
        -------
        float
            In [0, 1]; NaN, with a warning, if nobody has a neighbour.

        Notes
        -----
        For any function f of the output with values in [0, 1], or with labels that agree or do not,
        :func:`ifair.metrics.consistency` of ``f(transform(X))`` with the same neighbours is no less than this.

        *Proof.* yNN is the mean over people i, of those who have neighbours, of the mean of ``1 - |y_i - y_j|`` over
        their neighbours j, where ``|y_i - y_j|`` is 0 or 1 for labels and half the sum of differences for class
        probabilities. If i and j have one prototype, the rows ``z_i`` and ``z_j`` that f gets are equal, so that
        ``y_i = f(z_i) = f(z_j) = y_j``, and the pair adds 1. If not, it adds at least 0, as no two outcomes are more
        than 1 apart. The means of these lower limits are the value returned. A function that gives every prototype a
        label of its own attains it: no larger number holds for every model.

        The model must see the output and nothing else of the people, and say the same of equal rows. Scores of
        another range than [0, 1] need ``score_range``.

        Examples
        --------
        >>> import numpy as np
        >>> from ifair import IFair
        >>> X = np.repeat([[0.0, 0.0], [5.0, 1.0], [9.0, 9.0]], 20, axis=0)
        >>> model = IFair(n_prototypes=3, output="nearest", init="k-means", random_state=0).fit(X)
        >>> model.consistency_bound(X)
        1.0
        """
        if self.output != "nearest":
            raise IfairError(
                f"output={self.output!r} tells everybody apart, so that models on it can be as inconsistent as they "
                "like; consistency_bound needs output='nearest': model.set_params(output='nearest')"
            )
        search = neighbours is None and similarity is None
        if search and not hasattr(self, "protected_mask_"):
            check_is_fitted(self)
            raise IfairError("this model's file is older than protected_mask_: give neighbours of the people in X")
        if neighbours is not None and similarity is not None:
            raise IfairError("give either neighbours or similarity, which searches them, not both")
        with self._open_to_map(X, here="consistency_bound") as table:
            rows = table.map(self._representer("nearest"))
            records = table.load_columns(~self.protected_mask_) if search else None
        if similarity is not None:
            neighbours = similarity.neighbours(X, n_neighbors=n_neighbors).indices
        _, prototype = np.unique(rows, axis=0, return_inverse=True)
        return consistency(prototype, records, k=n_neighbors, neighbours=neighbours, kind="label", n_jobs=self.n_jobs)

    def prototypes_frame(self, encoder: Encoder | None = None) -> pd.DataFrame:
        """The prototypes as a table one can read.

        Parameters
        ----------
        encoder : Encoder, optional
            The fitted encoder whose output this was fitted on; prototypes are then in the units and categories of
            the original table.

        Returns
        -------
        DataFrame with one row per prototype
            ``share``, its part of the population, then the attributes; largest share first.

        Notes
        -----
        Representations are mixtures of prototypes and lie between them, so that prototypes themselves often lie
        outside the range of the data: an age of -20 stands for "as young as it gets". `archetypes` describes the people
        that a prototype stands for.
        """
        check_is_fitted(self)
        return self._make_readable(self.prototypes_, range(len(self.prototypes_)), encoder, {"share": self.shares_})

    def archetypes(self, X: Any, encoder: Encoder | None = None) -> pd.DataFrame:
        """Whom each prototype stands for: the average of the records that have most of it.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Records such as those fitted on.
        encoder : Encoder, optional
            The fitted encoder that made ``X``, for the units and categories of the original table.

        Returns
        -------
        DataFrame with one row per prototype that some record has most of
            ``share``, the mean membership; ``followers``, how many records have more of this prototype than of any
            other; then the mean of every number, and the most frequent category, among them. Largest share first.
        """
        with self._open_to_map(X, here="archetypes") as table:
            U, records = table.map(self._representer("membership")), table.load_records()
        strongest = U.argmax(axis=1)
        followed = np.unique(strongest)
        means = np.stack([records[strongest == k].mean(axis=0) for k in followed])
        counts = np.bincount(strongest, minlength=U.shape[1])[followed]
        return self._make_readable(means, followed, encoder, {"share": U.mean(axis=0)[followed], "followers": counts})

    def _make_readable(
        self, rows: NDArray[np.floating[Any]], numbers: Iterable[int], encoder: Encoder | None, first: dict[str, Any]
    ) -> pd.DataFrame:
        """Rows in the columns fitted on, as a table that begins with the columns ``first``, sorted by share."""
        frame = pd.DataFrame(rows, columns=[str(name) for name in _check_feature_names_in(self)])
        if encoder is not None:
            frame = encoder.decode(frame)
        frame = frame.set_axis(pd.Index([f"prototype{k}" for k in numbers], name="prototype"), axis=0)
        for position, (name, values) in enumerate(first.items()):
            # Beside an attribute of the same name, the order of columns tells them apart.
            frame.insert(position, name, values, allow_duplicates=True)
        return frame.iloc[np.argsort(-first["share"], kind="stable")]
