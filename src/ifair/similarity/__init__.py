"""Who is like whom: distances by attribute, peers within reach, the graph of peers, and words for a pair."""

from ifair.similarity.peers import Peers
from ifair.similarity.similarity import Comparison, Similarity

__all__ = ["Comparison", "Peers", "Similarity"]
