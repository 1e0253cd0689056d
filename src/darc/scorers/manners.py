"""Rudeness, threats, shouting, flattery, boilerplate and leaked template tokens in an answer.

The lists are our own, short and English, and hold no slurs: they catch plain contempt, not every
form of hate. A word that can be harmless counts only in a sentence that speaks to the reader.
"""

import re

from darc.language.phrases import any_of, one_of, word_set
from darc.language.text import WORD, Text

INSULTS = word_set(
    "idiot idiots idiotic moron morons moronic imbecile imbeciles cretin cretins dunce dunces",
    "dimwit dimwits halfwit halfwits nitwit nitwits dummy dummies simpleton simpletons blockhead",
    "blockheads numbskull airhead airheads buffoon buffoons oaf oafs ignoramus loser losers",
    "crybaby scumbag bastard bastards bitch bitches asshole arsehole dickhead jackass fatso wimp",
    "wimps twit twits dumbass dumb brainless braindead fuck fucking fucked shit shitty bullshit",
    "crap crappy",
)
CONTEMPT = word_set(
    "stupid pathetic useless worthless clueless hopeless pitiful ignorant illiterate lazy ugly",
    "dense dim thick spineless talentless helpless miserable incompetent embarrassing laughable",
    "ridiculous disgusting whining whiny dull clown clowns fool fools foolish pig pigs monkey",
    "parasite parasites slob slobs freak freaks coward cowards hack hacks doormat baby peasant",
    "trash garbage vermin scum genius uneducated addict",
)
DISMISSALS = any_of(
    "shut (?:up|it|your)",
    f"{one_of('get go buzz')} (?:lost|away|off)",
    "grow (?:up|a spine)",
    "who (?:cares|asked)",
    "couldn't care less|don't care",
    "wast(?:e|ing) (?:my|our) time|waste of (?:space|time|breath|oxygen)|laughing stock",
    "(?:bother|pester|annoy)(?:ing)? me",
    "people like you|your kind|not your (?:servant|maid|slave|mother)",
    "make me (?:sick|laugh)|hates? you|you deserve|boo hoo|cry(?:ing)? to me",
    "go back to (?:your|where)",
    "nobody (?:wants|likes|cares|asked)|everybody knows",
    "do (?:everyone|us all|the world) a favou?r",
    "can't (?:believe|be bothered|you do anything)",
    "what is wrong with you|are you (?:serious|kidding|deaf|blind)",
    "read the (?:[a-z]+ )?manual|if you can (?:even )?read",
    "a (?:child|toddler|kid|trained [a-z]+)(?: of [a-z]+)? (?:could|can|would|knows)",
    "my (?:cat|dog|grandmother|toaster) (?:could|can|knows)",
    "how hard (?:can|is)|was (?:that|it|thinking)[^.?!]{0,40} (?:hard|much)",
    "too (?:much|hard) for you|obviously too",
    f"{one_of('thick empty tiny dense hollow little')} {one_of('skull head brain mind')}",
    "(?:if|whatever|use|have)[^.?!]{0,25} brains?|brain-dead|piss off",
)
THREATS = any_of(
    f"i(?:'ll| will| am going to|'m going to) {one_of('kill hurt find destroy beat punch')}",
    "you(?:'ll| will) (?:regret|pay for|be sorry)",
    "watch your back|(?:kill|hurt) yourself|i know where you live|or else",
    "i hope you (?:die|fail|choke|suffer)",
)
READER = word_set("you your yours yourself you're you've you'd you'll")
FLATTERY = any_of(
    f"{one_of('great excellent wonderful fantastic brilliant amazing good fascinating')} "
    "(?:question|choice|idea)",
    f"what an? {one_of('great excellent wonderful fantastic brilliant')}",
    "you(?:'re| are) (?:so |absolutely |very )+(?:right|smart|clever)",
    "thank you for (?:asking|your question)",
)
BOILERPLATE = any_of(
    "i hope (?:this|that|it) helps",
    "feel free to|don't hesitate|as an ai|in conclusion",
    "let me know if you (?:have|need|want)",
    f"{one_of('certainly absolutely of_course definitely')}(?=!)",
    "i'd be (?:happy|glad|delighted) to",
    "it(?:'s| is) important to (?:note|remember)",
)
TEMPLATE = re.compile(
    r"<\|[^|\n]{0,40}\|>|\[/?INST\]|</?s>|<unk>|<pad>|<eos>|<(?:start|end)_of_turn>|\{\{[^}\n]*\}\}"
    r"|^(?:#{2,3} ?(?:Instruction|Response)|User|Human|Assistant|System) ?:",
    re.MULTILINE,
)
REPEATED_MARKS = re.compile(r"[!?]{2,}")
ENOUGH_WORDS = 20


def rudeness(text: Text) -> float:
    """How rude the answer is, 0 upwards; one plain insult to the reader is about 1. O(length)."""
    total = 0.6 * len(DISMISSALS.findall(text.lowered)) + 1.5 * len(THREATS.findall(text.lowered))
    if INSULTS.isdisjoint(text.words) and CONTEMPT.isdisjoint(text.words):
        return total
    return total + sum(_insults(WORD.findall(part.lower())) for part in text.sentences)


def _insults(words: list[str]) -> float:
    """How insulting the words of one sentence are."""
    addressed = not READER.isdisjoint(words)
    insults = sum(word in INSULTS for word in words) * (1.0 if addressed else 0.6)
    return insults + sum(word in CONTEMPT for word in words) * (0.5 if addressed else 0.05)


def shouting(text: Text) -> float:
    """The share of shouted words and of marks beyond the usual, 0 to about 1. O(length)."""
    words = WORD.findall(text.prose)
    loud = sum(len(word) > 3 and word.isupper() for word in words)
    exclaimed = max(0, text.prose.count("!") - 2)
    marks = 2.0 * len(REPEATED_MARKS.findall(text.prose))
    return (loud + marks + exclaimed) / max(len(words), ENOUGH_WORDS)


def padding(text: Text) -> float:
    """The number of flattering and boilerplate phrases. O(length)."""
    return float(len(FLATTERY.findall(text.lowered)) + len(BOILERPLATE.findall(text.lowered)))


def leaks(text: Text) -> float:
    """The number of template tokens that should never reach a reader. O(length)."""
    return float(len(TEMPLATE.findall(text.raw)))
