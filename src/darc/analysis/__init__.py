"""What many prompts show: comparison, evaluation, tuning and diagnosis."""
