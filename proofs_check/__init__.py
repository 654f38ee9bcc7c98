"""Claims about GRPO, and the machinery that proves, verifies, tests or refutes them."""
