"""Evidence about representations of a table of people, and the decisions made on them: a table in, plain data out."""

from ifair.audit.evidence import evidence
from ifair.audit.tuning import tune

__all__ = ["evidence", "tune"]
