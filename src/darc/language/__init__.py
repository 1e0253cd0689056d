"""English text for rewriters and scorers: words, sentences, numbers, synonyms and Markdown."""
