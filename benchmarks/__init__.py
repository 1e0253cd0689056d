"""Benchmarks: ratios measured side by side, printed as tables."""
