"""Benchmarks, not tests: ``python -m tests.benchmarks NAME`` prints ratios, and nothing asserts them."""
