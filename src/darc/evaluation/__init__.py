"""`darc eval`: what decisions are worth, in tables, figures and one page."""
