"""The pages of a study: plain HTML that works without scripts, and better with them."""
