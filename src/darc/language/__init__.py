"""English as text: words, numbers, senses, Markdown and phrase lists for rewrites and scorers."""
