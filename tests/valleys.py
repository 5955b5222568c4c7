"""Small problems to be solved in step, of two forms."""

import numpy as np

from ifair.core.lockstep import Problem
from ifair.core.objective import Losses
from ifair.core.parameters import Packing, Parameters

PACKING = Packing(1, 2, np.zeros(2, dtype=bool))


class Valley:
    """A curved valley with its bottom at prototypes (a, a^2)."""

    def __init__(self, a):
        self.a = a

    def value_and_grad(self, parameters):
        (x, y), alpha = parameters.prototypes[0], parameters.alpha
        value = (self.a - x) ** 2 + 20.0 * (y - x**2) ** 2 + float(((alpha - 0.5) ** 2).sum()) + 1.0
        gradient = [2.0 * (x - self.a) - 80.0 * x * (y - x**2), 40.0 * (y - x**2)]
        return Losses(value, (value,)), Parameters(np.array([gradient]), 2.0 * (alpha - 0.5))


VALLEYS = [Valley(a) for a in (0.5, 1.0, 1.5, -2.0, 3.0)]


def starts(n, seed):
    rng = np.random.default_rng(seed)
    return [Parameters(rng.normal(size=(1, 2)), rng.uniform(0.1, 1.0, 2)) for _ in range(n)]


def problems(n_starts=3, *, max_iter=300, observer=None):
    return [
        Problem(i % 2, starts(n_starts, i), PACKING, max_iter, 1e-6, None if observer is None else observer(i))
        for i in range(len(VALLEYS))
    ]


def out_of_luck():
    """As `answered`, up to the seventh call."""
    calls = []

    def evaluate(form, questions):
        calls.append(form)
        if len(calls) == 7:
            raise ZeroDivisionError("out of luck")
        return answered(form, questions)

    return evaluate


def answered(_, questions):
    return [VALLEYS[number].value_and_grad(parameters) for number, parameters in questions]
