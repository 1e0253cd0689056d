"""Lists of English words by their use, and contractions with their full forms."""

from darc.language.data_files import read_lists, read_rows, word_set

WORD_LISTS = {name: word_set(words) for name, words in read_lists("words.tsv").items()}
#: Words that carry grammar or emphasis; they do not count as content.
LIGHT_WORDS = WORD_LISTS["light"]


def read_forms(kind: str) -> dict[str, str]:
    """Read the forms of one kind from forms.tsv, by word."""
    return {word: forms for row_kind, word, forms in read_rows("forms.tsv") if row_kind == kind}


#: Contracted negations such as "don't", with their full forms.
NEGATED = read_forms("negated")
#: Contracted pronouns such as "we're", with their full forms.
PRONOUNS = read_forms("pronouns")
#: All contractions, with their full forms.
CONTRACTIONS = {**NEGATED, **PRONOUNS, **read_forms("is"), **read_forms("would")}
