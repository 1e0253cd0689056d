"""Contractions and their full forms."""

NEGATED: dict[str, str] = {
    "don't": "do not",
    "doesn't": "does not",
    "didn't": "did not",
    "isn't": "is not",
    "aren't": "are not",
    "wasn't": "was not",
    "weren't": "were not",
    "hasn't": "has not",
    "haven't": "have not",
    "hadn't": "had not",
    "can't": "cannot",
    "couldn't": "could not",
    "won't": "will not",
    "wouldn't": "would not",
    "shouldn't": "should not",
    "mustn't": "must not",
    "needn't": "need not",
}
PRONOUNS: dict[str, str] = {
    "i'm": "i am",
    "you're": "you are",
    "we're": "we are",
    "they're": "they are",
    "you'll": "you will",
    "we'll": "we will",
    "they'll": "they will",
    "it'll": "it will",
    "i'll": "i will",
    "you've": "you have",
    "we've": "we have",
    "they've": "they have",
    "i've": "i have",
}
IS: dict[str, str] = {
    "it's": "it is",
    "that's": "that is",
    "there's": "there is",
    "here's": "here is",
    "what's": "what is",
    "he's": "he is",
    "she's": "she is",
}
WOULD: dict[str, str] = {
    "i'd": "i would",
    "you'd": "you would",
    "we'd": "we would",
    "they'd": "they would",
    "let's": "let us",
}
ALL: dict[str, str] = {**NEGATED, **PRONOUNS, **IS, **WOULD}
