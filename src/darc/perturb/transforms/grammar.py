"""Small words that a sentence can have or lack, and turns of phrase with the same meaning."""

import re

from darc.perturb.transforms.transform import (
    Draws,
    capital,
    each_statement,
    like,
    matching,
    occurring,
    transform,
)

_CLAUSE = r"(?:you|they|we|he|she|it|there|i|the|your|their|our|its|these|this|some|many|most)"
_SAYING = (
    r"(?:think|believe|know|say|says|said|hope|hopes|means|meant|mean|ensure|ensures|notice|realize"
    r"|realise|remember|suppose|make sure|makes sure|find|found|forget|guess|so|suggests|shows)"
)
_THAT = re.compile(rf"\b(?P<verb>{_SAYING}) that (?={_CLAUSE}\b)", re.I)
_NO_THAT = re.compile(
    r"\b(?P<verb>think|believe|know|hope|means|ensure|make sure|notice|realize|realise|suppose) "
    r"(?=(?:you|they|we|he|she|it|there) (?:is|are|was|were|can|will|would|should|could|have|has"
    r"|need|do|may|might|must|want|feel|get|had|aren['\u2019]t|isn['\u2019]t)\b)"
)
_QUESTION = re.compile(r"\b(?:what|who|which|how|where|when|do|does|did)\b[^.!?]*\Z", re.I)
_RELATIVE = re.compile(
    r"(?P<noun>\b[a-z]{3,}) (?P<link>that|which) (?:is|are|was|were) "
    r"(?=(?:used|called|known|made|based|found|needed|required|located|designed|caused|produced"
    r"|written|given|taken|grown|built|sold|related|associated|responsible for)\b)"
)
_NO_NOUN_WORDS = "something anything thing things one those and but so said is was be"
_NO_NOUN = frozenset(_NO_NOUN_WORDS.split())
_APPOSITION = re.compile(r", which (?:is|are|was|were) (?P<rest>(?:a|an|the|one of)\b[^.,;:]*\.)")
_THERE = re.compile(
    r"\bThere are (?P<number>many|several|some|various|numerous|a few|a number of|different|two"
    r"|three|four) (?P<noun>(?:[a-z]+ )?[a-z]+s) (?:that|which) "
    r"(?=(?:can|could|may|might|will|should|have|are|affect|influence|contribute|help|make|cause"
    r"|need|require|include|offer|provide|come|play|determine|lead)\b)"
)
_EXIST = re.compile(
    r"\bThere are (?P<number>many|several|various|numerous|a number of|two|three|four)"
    r" (?P<noun>(?:different |possible |common |main |good |effective |simple )?"
    r"(?:ways|reasons|types|kinds|methods|options|theories|techniques|approaches|strategies|solutions))"
    r"(?= (?:to|of|for|why)\b|\.)"
)
_YOU_CAN = re.compile(r"(?:(?<=\A)|(?<=[.!?] )|(?<=\n))You can (?!also|only|not|always|never|then)")
_POSSIBLE = re.compile(r"\b(?P<it>It is|It's|it is|it's) possible to (?=[a-z])")
_SHOULD = re.compile(r"(?:(?<=\A)|(?<=[.!?] )|(?<=\n))You should (?!not|never|only|be\b|also|have)")
_PURPOSE = re.compile(r"(?:(?<=\A)|(?<=[.!?] )|(?<=\n))To (?=[a-z]+ (?:the|a|an|your|this|it)\b)")
_LETS = re.compile(
    r"\b(?P<verb>allow|allows) (?P<who>you|us|them|me|him|people|users) to (?=[a-z])"
)
_ALLOWS = re.compile(
    r"(?<!n't )(?<!not )\b(?P<verb>lets) (?P<who>you|us|them|me|him|people|users) (?=[a-z]{2,}\b)"
    r"(?!(?:in|out|off|down|alone|into|go|be|have|know|do|see)\b)"
)
_NUMBER = re.compile(
    r"\b(?P<lead>costs?|takes?|weighs?|lasts?|needs?|for|reached|produces?|after|every|contains?|use"
    r"|gives?|loses?|in|uses|within) (?P<about>about|around|roughly|approximately) "
    r"(?=[\U000f0000-\U000ffffd]|(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty"
    r"|thirty|forty|fifty|half|an hour)\b)"
)
_VERB = (
    r"(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|should|do|does|did"
    r"|[a-z]{3,}(?:s|ed))"
)
_WHICH = re.compile(
    r"(?P<lead>\b(?i:a|an|the|any|some|several|many|most|these|those|two|three|of|no|every|each) "
    r"(?:[a-z]+ )?)(?P<noun>[a-z]{3,}) (?P<link>that|which) (?!comes|makes|means|gives|leaves)(?="
    + _VERB
    + r"\b)"
)
_PEOPLE = re.compile(
    r"(?:people|person|man|men|woman|women|child|children|friend|someone|anyone|everyone|student|kid"
    r"|parent|guest|teacher|doctor|(?:er|or|ist|ian|ant|ee|ent|man|men)s?|s[ae]id|s[ae]ys?|ly|ing|ed"
    r"|fact|idea|belief|reason|way|all|those|knows?|thinks?|means?|shows?|so|hopes?|believes?|feels?"
    r"|day|time|moment|claim|such|point|of|in|on|to|at|by|for|with|from|is|was|be)\Z"
)
_THEN = re.compile(r"(?P<comma>, )(?P<and>and )?then (?=[a-z]+ )")
_KEEP = re.compile(r"\b(?P<verb>keep|keeps|kept|continue|continues|continued) (?=[a-z]{2,}ing\b)")
_KEPT = {
    "keep": "continue",
    "keeps": "continues",
    "kept": "continued",
    "continue": "keep",
    "continues": "keeps",
    "continued": "kept",
}
_MUST = re.compile(
    r"(?P<lead>(?:\A|[.!?;,] |\n|\b(?:and|but|so|if|because|then|when) )"
    r"(?:[Yy]ou|[Ww]e|[Tt]hey|I|[Ii]t|[Hh]e|[Ss]he) (?:(?:do not|don['\u2019]t|does not"
    r"|doesn['\u2019]t|will|may|might|also|only|still) )?)(?P<verb>needs?|have|has) to "
    r"(?!do\b|say\b|offer\b|have\b)(?=[a-z])"
)
_DUTY = {"need": "have", "needs": "has", "have": "need", "has": "needs"}
_LITTLE = re.compile(r"\b(?P<word>a little|slightly) (?=(?:more|less|[a-z]{2,}er)\b(?! of))")
_ABOUT = ("about", "around", "roughly", "approximately")
_TWICE = re.compile(
    r"\A(?P<who>You|We|I|They|It|He|She) (?P<first>[^,;:]+), and (?P<again>you|we|I|they|it"
    r"|he|she) (?P<second>[^,;:]+)\.\Z"
)

_saying, _relative = occurring(_THAT, _NO_THAT), occurring(_RELATIVE, _APPOSITION)
_existing, _linked = occurring(_THERE, _EXIST), occurring(_WHICH)
_turning = occurring(_YOU_CAN, _POSSIBLE, _SHOULD, _PURPOSE, _LETS, _ALLOWS, _NUMBER)
_small, _twice = occurring(_THEN, _KEEP, _LITTLE, _MUST), matching(_TWICE)


@transform("optional that")
def that(text: str, draws: Draws) -> str:
    """The "that" before a clause dropped, or put in."""
    if not _saying(text):
        return text

    def dropped(match: re.Match[str]) -> str:
        if match["verb"].lower() in ("so", "shows", "suggests", "find", "found", "mean"):
            return match.group()
        return f"{match['verb']} " if draws.chance(0.7) else match.group()

    def added(match: re.Match[str]) -> str:
        if _QUESTION.search(text[max(0, match.start() - 60) : match.start()]):
            return match.group()
        return f"{match['verb']} that " if draws.chance(0.7) else match.group()

    changed = _THAT.sub(dropped, text)
    return changed if changed != text else _NO_THAT.sub(added, text)


@transform("short relatives")
def relatives(text: str, draws: Draws) -> str:
    """Relatives cut short: "a drug that is used" as "a drug used", ", which is a" as ", a"."""
    if not _relative(text):
        return text

    def reduced(match: re.Match[str]) -> str:
        if match["noun"] in _NO_NOUN or not draws.chance(0.7):
            return match.group()
        return f"{match['noun']} "

    def apposed(match: re.Match[str]) -> str:
        return f", {match['rest']}" if draws.chance(0.7) else match.group()

    return _APPOSITION.sub(apposed, _RELATIVE.sub(reduced, text))


@transform("there are")
def there(text: str, draws: Draws) -> str:
    """Things that "there are" as subjects: "Many things help"."""
    if not _existing(text):
        return text

    def subject(match: re.Match[str]) -> str:
        if not draws.chance(0.7):
            return match.group()
        return f"{capital(match['number'])} {match['noun']} "

    def existing(match: re.Match[str]) -> str:
        if not draws.chance(0.5):
            return match.group()
        return f"{capital(match['number'])} {match['noun']} exist"

    return _EXIST.sub(existing, _THERE.sub(subject, text))


@transform("turns of phrase")
def turns(text: str, draws: Draws) -> str:
    """Phrases turned: "you can" as "it is possible to", "allows you to" as "lets you"."""
    if not _turning(text):
        return text

    def maybe(pattern: re.Pattern[str], words: str, probability: float, source: str) -> str:
        def changed(match: re.Match[str]) -> str:
            return words if draws.chance(probability) else match.group()

        return pattern.sub(changed, source)

    def lets(match: re.Match[str]) -> str:
        verb = "let" if match["verb"] == "allow" else "lets"
        return f"{verb} {match['who']} " if draws.chance(0.6) else match.group()

    def allows(match: re.Match[str]) -> str:
        return f"allows {match['who']} to " if draws.chance(0.6) else match.group()

    def about(match: re.Match[str]) -> str:
        choices = [word for word in _ABOUT if word != match["about"]]
        if not draws.chance(0.7):
            return match.group()
        return f"{match['lead']} {draws.pick(choices)} "

    text = maybe(_YOU_CAN, "It is possible to ", 0.4, text)
    text = _POSSIBLE.sub(
        lambda match: like(match.group(), "you can ") if draws.chance(0.4) else match.group(), text
    )
    text = maybe(_SHOULD, "It is best to ", 0.4, text)
    text = maybe(_PURPOSE, "In order to ", 0.5, text)
    lent = _LETS.sub(lets, text)
    text = lent if lent != text else _ALLOWS.sub(allows, text)
    return _NUMBER.sub(about, text)


@transform("that and which")
def which(text: str, draws: Draws) -> str:
    """Relatives with the other word: "a battery that lasts", "which lasts"; never of people."""
    if not _linked(text):
        return text

    def other(match: re.Match[str]) -> str:
        if _PEOPLE.search(match["noun"]) or not draws.chance(0.5):
            return match.group()
        link = "which" if match["link"] == "that" else "that"
        return f"{match['lead']}{match['noun']} {link} "

    return _WHICH.sub(other, text)


@transform("small turns")
def small_turns(text: str, draws: Draws) -> str:
    """Little words turned: ", then" as ", and then", "need to" as "have to"."""
    if not _small(text):
        return text

    def then(match: re.Match[str]) -> str:
        clause = text[: match.start()].rsplit(".", 1)[-1].lower()
        bound = re.search(r"\b(?:if|when|once|and)\b", clause)
        if bound or not draws.chance(0.6):
            return match.group()
        return ", then " if match["and"] else ", and then "

    def kept(match: re.Match[str]) -> str:
        return f"{_KEPT[match['verb']]} " if draws.chance(0.6) else match.group()

    def little(match: re.Match[str]) -> str:
        other = "slightly" if match["word"] == "a little" else "a little"
        return f"{other} " if draws.chance(0.6) else match.group()

    def duty(match: re.Match[str]) -> str:
        other = _DUTY[match["verb"]]
        return f"{match['lead']}{other} to " if draws.chance(0.6) else match.group()

    text = _KEEP.sub(kept, _THEN.sub(then, text))
    return _MUST.sub(duty, _LITTLE.sub(little, text))


@transform("one subject")
def one_subject(text: str, draws: Draws) -> str:
    """A repeated subject said once: "You open it and read it"."""

    def joined(sentence: str) -> str:
        match = _TWICE.match(sentence)
        if match is None or match["who"].lower() != match["again"].lower():
            return sentence
        return f"{match['who']} {match['first']} and {match['second']}."

    return each_statement(text, joined, _twice)
