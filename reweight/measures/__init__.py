"""What is measured on a policy or on counts: pass@k, coverage, entropy, divergences, support sets.

The labels after "Source" (R06, C58, ...) are explained in docs/theory.md.
"""

from reweight.measures.divergences import binary_kl, entropy, fisher_rao, kl, total_variation
from reweight.measures.logodds import log_odds
from reweight.measures.passes import coverage_at_k, estimate_pass_at_k, pass_at_k
from reweight.measures.support import SupportCounts, eps_for_confidence, support_counts

__all__ = [
    "SupportCounts",
    "binary_kl",
    "coverage_at_k",
    "entropy",
    "eps_for_confidence",
    "estimate_pass_at_k",
    "fisher_rao",
    "kl",
    "log_odds",
    "pass_at_k",
    "support_counts",
    "total_variation",
]
