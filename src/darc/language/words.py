"""Words without content of their own, stems, inflections and contractions."""

from functools import lru_cache

from darc.language.phrases import read_lists, read_rows, word_set

WORD_LISTS = {name: word_set(words) for name, words in read_lists("words.tsv").items()}
_FORMS = read_rows("forms.tsv")


def _forms(kind: str) -> dict[str, str]:
    return {word: forms for each, word, forms in _FORMS if each == kind}


# They carry grammar or colour and are not counted as content.
LIGHT_WORDS = WORD_LISTS["light"]
_STEMS = {form: base for base, forms in _forms("stem").items() for form in forms.split()}


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    word = _STEMS.get(word, word).replace("isation", "ization")
    word = word.replace("'s", "").rstrip("'")
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 4 and word.endswith(("sses", "xes", "zes", "ches", "shes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix, least in (("ying", 5), ("ing", 6), ("ied", 5), ("ed", 5), ("ly", 6), ("ness", 8)):
        if word.endswith(suffix) and len(word) >= least:
            word = word[: -len(suffix)] + ("y" if suffix[0] in "yi" and suffix != "ing" else "")
            break
    if word.endswith("ion") and len(word) > 7 and word[-4] in "st":
        word = word[:-3]
    elif word.endswith("ment") and len(word) > 8:
        word = word[:-4]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    word = word.replace("our", "or") if len(word) > 5 else word
    word = word.replace("ys", "yz") if word.startswith("analys") else word
    if word.endswith("is") and len(word) > 6:
        word = word[:-1] + "z"
    if len(word) > 3 and word.endswith(("e", "y")):
        word = word[:-1] + ("i" if word.endswith("y") else "")
    return word


_VERBS = {verb: forms.split() for verb, forms in _forms("verb").items()}
_VOWELS = "aeiou"
_PLURALS = _forms("plural")


def forms(verb: str) -> tuple[str, str, str, str, str]:
    """Base, third person, past, participle and -ing form; a particle stays behind the verb."""
    head, space, particle = verb.partition(" ")
    tail = space + particle
    if head in _VERBS:
        past, participle, gerund = _VERBS[head]
    else:
        past = participle = _past(head)
        gerund = _gerund(head)
    return verb, _third(head) + tail, past + tail, participle + tail, gerund + tail


def plural(noun: str) -> str:
    """The plural of a noun."""
    head, space, last = noun.rpartition(" ")
    return head + space + _PLURALS.get(last, _third(last))


def _third(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ies"
    return verb + "s"


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ied"
    return verb + "ed"


def _gerund(verb: str) -> str:
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return verb + "ing"


NEGATED = _forms("negated")
PRONOUNS = _forms("pronouns")
CONTRACTIONS = {**NEGATED, **PRONOUNS, **_forms("is"), **_forms("would")}
