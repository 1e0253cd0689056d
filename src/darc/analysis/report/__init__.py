"""The tables, figures and page of an evaluation."""
