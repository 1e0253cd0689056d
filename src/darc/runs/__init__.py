"""Many prompts in a folder that a stopped run goes on from."""
