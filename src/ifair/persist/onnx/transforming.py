"""LFR is a classifier and a transformer; inside a pipeline it is the latter, which skl2onnx cannot guess."""

from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from ifair.errors import ConversionError
from ifair.models.lfr import LFR


class TransformingLFR(TransformerMixin, BaseEstimator):
    """Stands for a fitted LFR whose `transform` is meant."""

    def __init__(self, lfr: Any = None) -> None:
        self.lfr = lfr

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        return self.lfr.get_feature_names_out()


def with_transforming_lfr(model: Any) -> Any:
    """A copy of a pipeline in which every LFR before the last step only transforms."""
    if not isinstance(model, Pipeline):
        return model
    last = len(model.steps) - 1
    steps = []
    for i, (name, step) in enumerate(model.steps):
        if any(isinstance(part, LFR) for part in _parts(step)):
            raise ConversionError(f"step {name!r} holds an LFR within; only as a step of the pipeline can it convert")
        steps.append((name, TransformingLFR(step) if isinstance(step, LFR) and i < last else step))
    return Pipeline(steps)


def _parts(step: Any) -> list[Any]:
    return list(step.get_params(deep=True).values()) if hasattr(step, "get_params") else []
