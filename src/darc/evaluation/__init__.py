"""From pools and ratings to the tables, figures and warnings of an evaluation."""
