"""One prompt, from candidates to a decision; many prompts at once."""
