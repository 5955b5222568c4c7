"""What a person sees of a long fit."""

import sys
import time
from math import inf, log

from ifair.core.problem import Progress

FAST = 0.1
"""Fall of the loss over ten iterations at which a search is at its beginning."""


class ProgressBar:
    """One line on standard error that follows restart, iteration and loss, and how near the search is to its end.

    The bar is full when the loss falls by no more than `tol` over ten iterations, on a logarithmic scale, or when
    `max_iter` is reached, whichever is nearer; it never goes back. A search on a sample, before the one on all records,
    has a bar of its own, where the fit ``rehearses``. How long it takes at most follows from the iterations so far. On
    a terminal the line is rewritten; elsewhere (a log file) a new line is written now and then.
    """

    WIDTH = 24

    def __init__(self, n_restarts: int, max_iter: int, tol: float, *, rehearses: bool = False) -> None:
        self.n_restarts, self.max_iter, self.tol = n_restarts, max_iter, tol
        self.stream = sys.stderr
        self.rewrites = self.stream is not None and self.stream.isatty()
        self.seconds_between = 0.1 if self.rewrites else 5.0
        self._last = -inf
        self._shown = False
        self._on_sample = rehearses
        self._reached: dict[int, int] = {}
        self._restart, self._seen, self._share = 0, 0, 0.0
        self._began = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        self._follow(progress, now)
        if self.stream is None or now - self._last < self.seconds_between:
            return
        self._last, self._shown = now, True
        filled = int(self.WIDTH * self._share)
        falls = f", {progress.fall:.2%} lower than ten iterations ago" if progress.fall < inf else ""
        line = (
            f"iFair [{'#' * filled}{'.' * (self.WIDTH - filled)}] restart {progress.restart + 1}/{self.n_restarts}  "
            f"iteration {progress.iteration}  loss {progress.loss:.6g}{falls}{self._tell_rest(progress, now)}"
        )
        self.stream.write(f"\r{line}\x1b[K" if self.rewrites else f"{line}\n")
        self.stream.flush()

    def _follow(self, progress: Progress, now: float) -> None:
        """Notice where another restart goes on, and where the search on all records begins."""
        if progress.iteration <= self._reached.get(progress.restart, -1):
            self._reached, self._on_sample, self._began, self._seen = {}, False, now, 0
        if not self._reached or progress.restart != self._restart:
            self._share = 0.0
        self._restart, self._seen = progress.restart, self._seen + 1
        self._reached[progress.restart] = progress.iteration
        self._share = max(self._share, self._share_done(progress))

    def _tell_rest(self, progress: Progress, now: float) -> str:
        """How long it takes at most, if every restart needs all of its iterations."""
        if self._on_sample:
            return ", on a sample first"
        later = self.n_restarts - 1 - progress.restart
        left = (now - self._began) / max(self._seen - 1, 1) * (self.max_iter * (1 + later) - progress.iteration)
        return (
            "" if left < 1 else f", at most {left:.0f} s left" if left < 90 else f", at most {left / 60:.0f} min left"
        )

    def _share_done(self, progress: Progress) -> float:
        """How far the search is: 0 while the loss falls by a tenth over ten iterations, 1 at its end."""
        share = progress.iteration / self.max_iter
        if self.tol > 0.0 and progress.fall < FAST:
            share = max(share, log(FAST / max(progress.fall, self.tol)) / log(FAST / min(self.tol, FAST / 2)))
        return min(share, 1.0)

    def close(self) -> None:
        """End the line, so that what is printed next starts on its own."""
        if self._shown and self.rewrites:
            self.stream.write("\n")
            self.stream.flush()
