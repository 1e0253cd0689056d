"""Models: the embedded language model, models on servers and on torch, sentence embeddings."""
