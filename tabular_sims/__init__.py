"""Studies: small worlds whose dynamics are exact. None is written yet."""
