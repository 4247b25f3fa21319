"""Ours, and what ours is compared with. Each follows the same history with the same subscriptions."""
