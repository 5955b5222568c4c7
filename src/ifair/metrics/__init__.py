"""What the paper reports, and the audit: arrays or frames in, floats or small results out."""

from ifair.metrics.adversary import Adversary, adversary
from ifair.metrics.bootstrap import Interval, bootstrap, consistency_interval, share_interval
from ifair.metrics.certificate import Certificate, certify, minkowski
from ifair.metrics.corrected import consistency_at_rate, corrected_consistency, rank_consistency
from ifair.metrics.flip import FlipTest, Shift, flip_test
from ifair.metrics.group import (
    equal_opportunity,
    equal_opportunity_difference,
    equalised_odds,
    equalised_odds_difference,
    false_positive_rate,
    selection_rate,
    statistical_parity,
    statistical_parity_difference,
    true_positive_rate,
)
from ifair.metrics.individual import ConsistencyScorer, consistency, consistency_per_person
from ifair.metrics.neighbours import nearest_neighbours
from ifair.metrics.ranking_quality import (
    average_precision_at_k,
    kendall_tau,
    mean_average_precision,
    mean_over_queries,
    ndcg,
    per_query,
    share_at_k,
)
from ifair.metrics.utility import accuracy, auc, hard_auc
from ifair.metrics.worst_treated import Person, Treatment, treatment

__all__ = [
    "Adversary",
    "Certificate",
    "ConsistencyScorer",
    "FlipTest",
    "Interval",
    "Person",
    "Shift",
    "Treatment",
    "accuracy",
    "adversary",
    "auc",
    "average_precision_at_k",
    "bootstrap",
    "certify",
    "consistency",
    "consistency_at_rate",
    "consistency_interval",
    "consistency_per_person",
    "corrected_consistency",
    "equal_opportunity",
    "equal_opportunity_difference",
    "equalised_odds",
    "equalised_odds_difference",
    "false_positive_rate",
    "flip_test",
    "hard_auc",
    "kendall_tau",
    "mean_average_precision",
    "mean_over_queries",
    "minkowski",
    "ndcg",
    "nearest_neighbours",
    "per_query",
    "rank_consistency",
    "selection_rate",
    "share_at_k",
    "share_interval",
    "statistical_parity",
    "statistical_parity_difference",
    "treatment",
    "true_positive_rate",
]
