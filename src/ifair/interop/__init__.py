"""Datasets of other fairness libraries, in and out."""

from ifair.interop.aif360 import from_aif360, to_aif360

__all__ = ["from_aif360", "to_aif360"]
