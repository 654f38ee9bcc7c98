"""Studies: small worlds whose dynamics are exact."""
