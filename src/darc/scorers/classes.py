"""The class of an English word: closed classes from lists, open ones from endings."""

import re
from functools import lru_cache

CLOSED: dict[str, str] = {
    "article": "the a an",
    "pointer": "this these those each every some any another such both all no either neither",
    "owner": "my your his its our their whose",
    "her": "her",
    "subject": "i he she we they who nobody everyone everybody someone anybody nothing something "
    "anything everything one",
    "you": "you it",
    "object": "me him them us myself yourself himself herself itself ourselves themselves whom",
    "that": "that",
    "of": "of",
    "to": "to",
    "preposition": "in on at by for with from into onto over under through during before after "
    "between among against without within about around across along behind beside beneath above "
    "below near until till towards toward off out up down past per upon inside outside beyond "
    "despite except",
    "and": "and or but nor yet plus",
    "link": "if because when while since although though as than whether where so unless once "
    "whenever wherever whereas",
    "asking": "which what how why",
    "be": "is are was were am be been being",
    "have": "has have had having",
    "do": "do does did doing done",
    "modal": "can could will would shall should may might must cannot",
    "not": "not never",
    "no-verb": "don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't couldn't "
    "shouldn't haven't hasn't hadn't mustn't needn't",
    "is-verb": "i'm you're we're they're it's he's she's that's there's what's who's here's i've "
    "you've we've they've i'll you'll he'll she'll we'll they'll it'll i'd you'd he'd she'd we'd "
    "they'd let's",
    "adverb": "very also then only just still already often always too even again here there now "
    "quite rather almost perhaps maybe soon later once twice together away back first finally "
    "well far ever instead else however therefore otherwise today tomorrow yesterday",
    "count": "two three four five six seven eight nine ten eleven twelve twenty thirty hundred "
    "thousand million half many few several most much more less enough little",
    "verb": "make take get go put use find give keep let tell say see know think want need look "
    "try ask work call feel come turn leave help show run write read start stop add move play pay "
    "bring hold set learn change follow choose buy send wait eat cut mean become seem open close "
    "remember understand happen begin grow break draw drop fill pull push press avoid pick",
    "past": "made took got went found gave kept told said saw knew thought came left held began "
    "wrote ran became brought met lost paid grew broke drew fell known given taken seen gone "
    "written shown",
    "adjective": "good bad new old big small large long short high low hot cold warm wet dry hard "
    "easy early late great own same other different true false real full empty free open clear "
    "simple common main next last best better worse worst red green blue white black bright dark "
    "young strong weak heavy light quick slow fast safe sure whole right wrong",
}
CLASS_OF = {word: name for name, words in CLOSED.items() for word in words.split()}
OPEN_CLASSES = ("verb", "past", "adjective")
FUNCTION_WORDS = frozenset(word for word, name in CLASS_OF.items() if name not in OPEN_CLASSES)

# The first pattern that fits decides.
SHAPES = (
    ("number", re.compile(r"\d")),
    ("stop", re.compile(r"[.!?\u2026\n]")),
    ("comma", re.compile(r"[,;:()\u2013\u2014-]")),
    ("manner", re.compile(r"...ly$")),
    ("ing", re.compile(r"...ing$")),
    ("past", re.compile(r"..(?:[^e]ed|[^aeiou]ied)$")),
    ("abstract", re.compile(r"..(?:tion|sion|ness|ment|ity|ism|ance|ence|ship|hood)$")),
    ("adjective", re.compile(r"..(?:ous|ful|less|ive|able|ible|ical|ish|ary|est)$")),
    ("plural", re.compile(r"..[^su]s$")),
)
OTHER = "noun"
CLASSES = sorted({*CLOSED, *(name for name, _ in SHAPES), OTHER})
NUMBER_OF = {name: number for number, name in enumerate(CLASSES)}


@lru_cache(maxsize=1 << 16)
def class_of(token: str) -> str:
    """The class of a word, number or mark in lower case. O(length)."""
    known = CLASS_OF.get(token)
    if known is not None:
        return known
    return next((name for name, shape in SHAPES if shape.search(token)), OTHER)
