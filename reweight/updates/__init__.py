"""Updates: how the policy moves."""

from reweight.updates.policy_gradient import PolicyGradient
from reweight.updates.sampled_policy_gradient import SampledPolicyGradient
from reweight.updates.tilt import Tilt

__all__ = ["UPDATES", "PolicyGradient", "SampledPolicyGradient", "Tilt"]

UPDATES: dict[str, type[Tilt | PolicyGradient | SampledPolicyGradient]] = {
    update.name: update for update in (Tilt, PolicyGradient, SampledPolicyGradient)
}
"""The updates by the name that files and the command line use."""
