"""Benchmarks: ratios measured side by side, printed as tables."""

# The default scorers, by the embeddings that everybody has.
EMBEDDED_SCORERS = ("relevance,embeddings=static", "fluency", "form", "harm")
