"""Peers on a ring: the paper's figures 5(a) to (c), and what it leaves open: size, churn, skew, retraction (S6)."""
