"""Updates: how the policy moves."""

from reweight.updates.policy_gradient import PolicyGradient
from reweight.updates.sampled_policy_gradient import SampledPolicyGradient
from reweight.updates.tilt import Tilt

__all__ = ["PolicyGradient", "SampledPolicyGradient", "Tilt"]
