"""`darc tune`: a rule and its strengths, chosen on some prompts and measured on others."""
