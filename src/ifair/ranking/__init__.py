"""Fair rankings: FA*IR's minimum counts, its test and its re-ranking, exactly; and a model that learns to rank."""

from ifair.ranking.fa_star_ir import FairRanking, FAStarIR, ShortageWarning, fair_order, fair_scores
from ifair.ranking.minimum_tables import adjusted_alpha, failure_probability, minimum_counts
from ifair.ranking.pairwise import PairwiseRanker
from ifair.ranking.significance import RankingTest, is_fair, ranking_test

__all__ = [
    "FAStarIR",
    "FairRanking",
    "PairwiseRanker",
    "RankingTest",
    "ShortageWarning",
    "adjusted_alpha",
    "fair_order",
    "fair_scores",
    "failure_probability",
    "is_fair",
    "minimum_counts",
    "ranking_test",
]
