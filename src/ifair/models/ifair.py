"""The iFair estimator: individually fair representations as a scikit-learn transformer."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ifair.core.euclidean_pairs import KeptPairs, keep_pairs, pair_kernel
from ifair.core.mapping import Packing, Parameters
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Losses, Objective, Reconstruction, Term
from ifair.core.pairs import AllPairs, Landmarks
from ifair.core.problem import Solution
from ifair.engines.engine import Engine, LocalEngine
from ifair.errors import warn_user
from ifair.inputs.table import Table
from ifair.models.prototypes import Task
from ifair.models.readable_prototypes import ReadablePrototypes
from ifair.models.starts import (
    REHEARSED,
    REHEARSED_FROM,
    choose_init,
    draw_positions,
    draw_sample,
    first_parameters,
)
from ifair.models.validation import check_pairs, check_parameters, check_table, protected_columns, record_weights

# pairs="auto": all pairs up to this many records, beyond it this many landmarks. Other orders than p = 2 have no
# matrix products to lean on and cost some fifty times more a pair.
ALL_PAIRS_UP_TO = {True: 3000, False: 400}
AUTO_LANDMARKS = {True: 1000, False: 100}

# precision="auto": single precision inside tiles from this many records on, or people that
# they stand for; below, speed is no concern.
SINGLE_PRECISION_FROM = 2000

TRIVIAL_OPTIMUM = (
    "utility_weight=0 with fairness_distance='weighted' has a trivial optimum: all attribute weights go to 0, every "
    "distance with them, and what the representation shows is arbitrary. Use a positive utility_weight, or "
    "fairness_distance='euclidean'."
)


class IFair(ReadablePrototypes):
    """Representations in which records alike in all but protected attributes are alike.

    Every record becomes a mixture of a few prototypes. Prototypes and attribute weights are learned such that the
    representation stays close to the record (utility) and that distances between representations equal the
    distances between records on their unprotected attributes (individual fairness).

    Parameters
    ----------
    n_prototypes : int, default=10
        K, the number of prototypes. More prototypes keep more of the data and even out less.
    utility_weight : float, default=1.0
        lambda, the weight of the reconstruction loss (Def. 4).
    fairness_weight : float, default=1.0
        mu, the weight of the fairness loss (Def. 5).
    protected : None, str, int, sequence of str or int, boolean mask, or callable, default=None
        The protected columns. A name also stands for all columns that :class:`ifair.Encoder` made of the attribute
        (``"race"`` for ``race=Black``, ``race=White``, ...). A callable gets the table and returns any of these
        forms. None: no column is protected, the representation is merely smoothed.
    p : float, default=2.0
        Order of the Minkowski distance, at least 1 (Def. 7). Not infinity, in whose limit weights no longer count.
    squared : bool, default=False
        Memberships from squared distances, as in the authors' code; the paper takes the distances themselves.
    fairness_distance : {"weighted", "euclidean"}, default="weighted"
        Distances in the fairness loss with the learned attribute weights, as the paper writes, or without, as the
        authors' code computes them.
    reduction : {"mean", "sum", "norm"}, default="mean"
        Mean over records and over pairs, which keeps the two weights meaningful for any size of table; the paper's
        sums; or the square roots of the sums, as in the authors' code.
    alpha_init : {"masked", "random"} or array-like of shape (n_features,), default="masked"
        First attribute weights: uniform in (0, 1), with protected ones near zero (iFair-b) or without exception
        (iFair-a), which matters with ``freeze_protected=False``. A weight given as exactly 0 stays 0.
    init : {"auto", "principal", "k-means++", "k-means", "uniform"} or array-like of shape (n_prototypes, n_features)
        First prototypes. "principal": around principal components of the unprotected columns (of all with
        ``alpha_init="random"``), with small equal weights, so that the search begins with nearly the projection on
        them. "k-means++": records far apart; "k-means": centres of clusters under the first weights; "uniform": in
        (0, 1) as in the paper. By default, "auto", one start of "principal", which ends lower on four of the paper's
        five datasets; "k-means++" where `alpha_init` gives weights, or prototypes are more than such columns.
    pairs : {"auto", "all", "moments"} or int, default="auto"
        Which pairs of records the fairness loss compares. "all": every pair, exactly. An int: every record with so
        many landmarks, records drawn at random, an unbiased estimate in linear time; from the number of records on
        the same as "all". "moments": every pair, exactly and in linear time, but of *squared* distances, a different
        loss that stresses far pairs (p = 2 only). "auto": all pairs up to 3,000 records (400 if p is not 2), else
        1,000 (100) landmarks.
    output : {"representation", "membership", "nearest"}, default="representation"
        What `transform` returns: mixtures of prototypes, with the columns of the table; the shares of the prototypes;
        or of every record the nearest prototype under the learned distance (of equally near ones the first), so that
        near people are the same person to every model (see `consistency_bound`). Columns of weight 0 then show the
        prototype's values, the same for everybody who has it. What is learned does not depend on it.
    freeze_protected : bool, default=True
        Hold the weights of protected columns at exactly 0: the output then does not depend on them at all. False: they
        are learned like the others, as in the paper; `alpha_init` says where they begin.
    utility_columns : {"all", "unprotected"}, default="all"
        Columns that the reconstruction loss covers.
    n_restarts : int, default=3
        Starts to try, where they are drawn at random: ``init="auto"`` makes one start along principal components. After
        100 iterations only the best goes on.
    max_iter : int, default=1000
        Most iterations of L-BFGS from a start.
    tol : float, default=1e-4
        Converged when the loss fell by less than this share of itself over ten iterations (or of a hundredth of the
        first loss, once it is smaller than that): little progress, not a minimum to the last digit.
    warm_start : bool, default=False
        Start from the previous solution (one start) instead of anew.
    precision : {"auto", "single", "double"}, default="auto"
        Arithmetic inside tiles of pairs; sums are always kept in double precision. "auto": single from 2,000 records,
        or people that they stand for, on, which is twice as fast and changes the loss in the eighth digit.
    engine : {"auto", "local", "torch", "dask", "spark"} or str, default="auto"
        Where the fit is computed. "local": this machine's processors. "torch": the first CUDA device, or the processor
        without one; "torch:cuda:1" and the like name a device (needs the extra ``ifair[torch]``). "dask": the Dask
        cluster of the current client, else one of processes on this machine; "dask:tcp://10.0.0.1:8786" and the like
        name a scheduler (needs the extra ``ifair[dask]``). "spark": the Spark session of this process, else one in
        local mode; "spark:spark://10.0.0.1:7077" and the like name a master (needs the extra ``ifair[spark]`` and
        Java). "auto": local, unless X is a tensor on an accelerator, a Dask collection or a Spark data frame, which is
        then used where it is. Results differ by rounding only.
    n_jobs : int, default=None
        Threads of the local engine; -1 for all cores. Workers of a cluster made for a fit; None for all cores.
        The result does not depend on it.
    callback : callable, default=None
        Called as ``callback(iteration, loss, gradient_norm)`` after every iteration. Raising StopIteration ends the
        fit with the best solution so far.
    verbose : bool, default=False
        Show a progress bar on standard error.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_prototypes, n_features)
    alpha_ : ndarray of shape (n_features,)
        Attribute weights, never negative.
    shares_ : ndarray of shape (n_prototypes,)
        Mean membership in every prototype over the training records.
    loss_, utility_loss_, fairness_loss_ : float
        ``loss_ = utility_weight * utility_loss_ + fairness_weight * fairness_loss_``, each reduced as asked for.
    n_iter_ : int
        Iterations from the best start. From 20,000 records on (``reduction="mean"``, not on a GPU) a search on 5,000 of
        them comes first, which is not counted.
    converged_ : bool
        Whether `tol` was reached: the search stopped for little progress.
    protected_mask_ : ndarray of bool, shape (n_features,)
    restarts_ : ndarray of shape (n_starts,)
        Loss that every start reached, for all but the best after 100 iterations.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the table has column names that are all strings.

    Notes
    -----
    With ``utility_weight=0`` and ``fairness_distance="weighted"`` there is a trivial optimum: all weights go to 0, and
    every distance with them. `fit` warns about it.

    References
    ----------
    P. Lahoti, K. P. Gummadi, G. Weikum: iFair: Learning Individually Fair Data Representations for Algorithmic
    Decision Making. ICDE 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from ifair import IFair
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> X[:, 2] = rng.integers(0, 2, size=60)  # gender
    >>> fair = IFair(n_prototypes=4, protected=[2], random_state=0).fit(X)
    >>> other = X.copy()
    >>> other[:, 2] = 1 - other[:, 2]
    >>> bool(np.all(fair.transform(X) == fair.transform(other)))
    True
    """

    def __init__(
        self,
        n_prototypes: int = 10,
        *,
        utility_weight: float = 1.0,
        fairness_weight: float = 1.0,
        protected: Any = None,
        p: float = 2.0,
        squared: bool = False,
        fairness_distance: str = "weighted",
        reduction: str = "mean",
        alpha_init: Any = "masked",
        init: Any = "auto",
        pairs: str | int = "auto",
        output: str = "representation",
        freeze_protected: bool = True,
        utility_columns: str = "all",
        n_restarts: int = 3,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        precision: str = "auto",
        engine: str = "auto",
        n_jobs: int | None = None,
        callback: Callable[[int, float, float], None] | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.utility_weight = utility_weight
        self.fairness_weight = fairness_weight
        self.protected = protected
        self.p = p
        self.squared = squared
        self.fairness_distance = fairness_distance
        self.reduction = reduction
        self.alpha_init = alpha_init
        self.init = init
        self.pairs = pairs
        self.output = output
        self.freeze_protected = freeze_protected
        self.utility_columns = utility_columns
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.precision = precision
        self.engine = engine
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn prototypes and attribute weights.

        Parameters
        ----------
        X : array-like, DataFrame (also of Dask or Spark), Tensor, Array of Dask, or path; shape (n_samples, n_features)
            Numbers on comparable scales; :class:`ifair.Encoder` makes them of any table. A memory map is read block by
            block and never copied; so is the table at a path: a ``.npy`` file, a Parquet file or a folder of them. What
            Dask or Spark hold, or Dask reads with ``engine="dask"``, is not loaded into this process.
        y : None
            Ignored: the representation knows no outcome.
        sample_weight : array-like of shape (n_samples,), or str, optional
            How many people every record stands for: records count so much in the reconstruction, and pairs by the
            product of their two. A whole number is the same as so many copies of the record, 0 as if it were not
            there. Of a table in Parquet files, of Dask or of Spark also the name of a column, which is then no part of
            X. In a Pipeline it is passed on by scikit-learn's metadata routing.

        Returns
        -------
        IFair
            The estimator itself.
        """
        return self._fit(X, sample_weight=sample_weight)

    def _check_parameters(self) -> None:
        check_parameters(self)
        if self.utility_weight == 0 and self.fairness_distance == "weighted":
            warn_user(TRIVIAL_OPTIMUM)

    def _examine(self, table: Table, X: Any) -> NDArray[np.bool_]:
        check_pairs(self, table)
        check_table(self, table)
        return protected_columns(self, X)

    def _weights(self, n_features: int, report: bool = False) -> tuple[float | None, ...]:
        return float(self.utility_weight), float(self.fairness_weight) if self.fairness_weight > 0 or report else None

    def _task(self, engine: Engine, table: Table, protected: NDArray[np.bool_]) -> Task:
        random_state, centre = check_random_state(self.random_state), table.statistics.mean
        rehearsed = None
        frozen = protected if self.freeze_protected else np.zeros_like(protected)
        weights = record_weights(table)
        records = _Records.send(engine, protected, weights)
        objective = self._objective(records, random_state)
        if self.warm_start and hasattr(self, "prototypes_"):
            starts = [Parameters(self.prototypes_.copy(), np.where(frozen, 0.0, self.alpha_))]
        else:
            sample = draw_sample(engine, table, self.n_prototypes, random_state, weights)
            counted = protected if isinstance(self.alpha_init, str) and self.alpha_init == "masked" else frozen
            init, n_starts = self.init, self.n_restarts
            if isinstance(init, str) and init == "auto":
                init = choose_init(self.alpha_init, self.n_prototypes, int(np.count_nonzero(~counted)))
                n_starts = 1 if init == "principal" else n_starts
            options = self.n_prototypes, init, self.alpha_init, protected, frozen, random_state, bool(self.squared)
            starts = [first_parameters(sample.X, *options, sample.weights) for _ in range(n_starts)]
            if engine.n_records >= REHEARSED_FROM and self.reduction == "mean" and not engine.batch_bytes:
                few = sample.take(draw_positions(len(sample.X), min(REHEARSED, len(sample.X)), random_state))
                small = LocalEngine(few.X - centre, threads=int(effective_n_jobs(self.n_jobs)))
                rehearsed = self._objective(_Records.send(small, protected, few.weights), random_state)
        if self.freeze_protected and self.utility_columns == "unprotected":
            # Nothing pulls at these columns: without this they would show the values of the records drawn as starts.
            shown = centre[protected] if weights is None else weights @ table.load_columns(protected) / weights.sum()
            for start in starts:
                start.prototypes[:, protected] = shown
        starts = [Parameters(start.prototypes - centre, start.alpha) for start in starts]
        # A fairness loss without weight is left out of the search to save time, but worth knowing.
        reported = None
        if self.fairness_weight == 0:
            reported = self._objective(records, random_state, report=True)
        packing = Packing(self.n_prototypes, table.n_features, frozen)
        return Task(objective, starts, packing, protected, reported, rehearsed, records.sent)

    def _keep_losses(self, solution: Solution, reported: Losses) -> None:
        self.loss_ = reported.total
        self.utility_loss_, self.fairness_loss_ = reported.terms[:2]

    def _objective(self, records: "_Records", random_state: np.random.RandomState, report: bool = False) -> Objective:
        weights = self._weights(len(records.protected), report)
        pairs = zip(weights, self._terms(records, random_state, weights), strict=True)
        weighted = tuple((weight, term) for weight, term in pairs if weight is not None and term is not None)
        total = None if records.weights is None else float(records.weights.sum())
        return Objective(records.engine, self._mapping(), weighted, self.reduction, total)  # type: ignore[arg-type]

    def _terms(
        self, records: "_Records", random_state: np.random.RandomState, weights: tuple[float | None, ...]
    ) -> tuple[Term | None, ...]:
        """The terms, in the order of their weights; None for pairs where they are left out."""
        protected = records.protected
        counts = ~protected if self.utility_columns == "unprotected" else np.ones_like(protected)
        (columns,) = records.engine.send(counts.astype(np.float64))
        return (
            Reconstruction(columns, records.sent),
            None if weights[1] is None else self._pair_term(records, random_state),
        )

    def _pair_term(
        self, records: "_Records", random_state: np.random.RandomState
    ) -> AllPairs | KeptPairs | Landmarks | Moments:
        engine, protected, weights, sent = records
        weighted, euclidean = self.fairness_distance == "weighted", self.p == 2
        if self.pairs == "moments":
            (unprotected,) = engine.send(np.flatnonzero(~protected))
            return Moments(unprotected, input_products(engine, unprotected, sent), weighted, sent)
        n_people = max(engine.n_records, 0.0 if weights is None else weights.sum())  # weights may sum to 1
        single = self.precision == "single" or (self.precision == "auto" and n_people >= SINGLE_PRECISION_FROM)
        pairs = self.pairs
        if pairs == "auto":
            pairs = AUTO_LANDMARKS[euclidean] if engine.n_records > ALL_PAIRS_UP_TO[euclidean] else "all"
        n_counted = engine.n_records if weights is None else int(np.count_nonzero(weights))
        n_landmarks = None if pairs == "all" or int(pairs) >= n_counted else int(pairs)
        kernel = pair_kernel(
            engine,
            ~protected,
            self.n_prototypes,
            float(self.p),
            weighted=weighted,
            single=single,
            n_landmarks=n_landmarks,
            counted=weights is not None,
        )
        if n_landmarks is None:
            return keep_pairs(engine, kernel, weights=weights) or AllPairs(kernel, sent)
        drawn = draw_positions(n_counted, n_landmarks, random_state)
        if weights is None:
            return keep_pairs(engine, kernel, drawn) or Landmarks(kernel, engine.take(drawn), engine.n_records)
        drawn = np.flatnonzero(weights)[drawn]
        counts = weights[drawn] / weights[drawn].mean()
        return keep_pairs(engine, kernel, drawn, weights, counts) or Landmarks(
            kernel, engine.take(drawn), float(weights.sum()), sent, *engine.send(counts)
        )


class _Records(NamedTuple):
    """The records of a loss: who holds them, their protected columns, and their weights, if they have any."""

    engine: Engine
    protected: NDArray[np.bool_]
    weights: NDArray[np.float64] | None
    sent: Any
    """The weights where the engine has the records."""

    @classmethod
    def send(cls, engine: Engine, protected: NDArray[np.bool_], weights: NDArray[np.float64] | None) -> Self:
        return cls(engine, protected, weights, None if weights is None else engine.send(weights)[0])
