"""Who is like whom: distances by attribute, peers within reach, the graph of peers, and words for a pair."""

from ifair.similarity.pair_words import Comparison
from ifair.similarity.peers import Peers
from ifair.similarity.similarity import Similarity

__all__ = ["Comparison", "Peers", "Similarity"]
