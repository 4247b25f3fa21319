"""What is measured, and against what: `python -m benchmarks NAME`, which `./run bench NAME` calls.

`workloads` generates subscriptions and documents from a seed, `alternatives` has ours and what ours is compared with,
`measure` times them in turn in one run, `report` writes JSON lines and tables, `targets` says what was promised.
Machines are noisy: what counts is the ratio of two alternatives within one run, never a time by itself.
"""
