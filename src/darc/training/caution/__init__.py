"""The model of atypical answers: data, negatives, and fits of its three forms."""
