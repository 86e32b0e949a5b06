"""The ground floor: what every other room may use, and what imports none of them."""
