"""The objective of a run: advantage, ratio, clip, KL, aggregation, as one frozen description."""
