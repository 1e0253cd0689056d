"""A light stem: the same for the inflections of a word, not meant to be read."""

from functools import lru_cache

_IRREGULAR = {
    form: base
    for base, forms in {
        "leave": "left leaves leaving",
        "begin": "began begun",
        "choose": "chose chosen",
        "find": "found",
        "build": "built",
        "keep": "kept",
        "tell": "told",
        "say": "said",
        "buy": "bought",
        "sell": "sold",
        "write": "wrote written",
        "win": "won",
        "lose": "lost",
        "think": "thought",
        "bring": "brought",
        "teach": "taught",
        "catch": "caught",
        "see": "saw seen",
        "know": "knew known",
        "speak": "spoke spoken",
        "break": "broke broken",
        "drive": "drove driven",
        "eat": "ate eaten",
        "run": "ran",
        "send": "sent",
        "spend": "spent",
        "lend": "lent",
        "hold": "held",
        "stand": "stood",
        "understand": "understood",
        "meet": "met",
        "lead": "led",
        "feed": "fed",
        "sleep": "slept",
        "feel": "felt",
        "mean": "meant",
        "pay": "paid",
        "lie": "lay lain",
        "freeze": "froze frozen",
        "fly": "flew flown",
        "draw": "drew drawn",
        "swim": "swam",
        "sing": "sang sung",
        "child": "children",
        "man": "men",
        "woman": "women",
        "foot": "feet",
        "tooth": "teeth",
        "mouse": "mice",
        "life": "lives",
        "leaf": "leafs",
        "knife": "knives",
        "become": "became",
        "wear": "wore worn",
        "show": "shown",
        "bake": "baked",
        "hear": "heard",
        "sit": "sat",
        "shine": "shone",
        "hide": "hid hidden",
        "good": "goods",
        "analysis": "analyses",
        "hypothesis": "hypotheses",
        "beat": "beaten",
        "die": "died dying",
        "tie": "tied tying",
        "use": "used using",
        "throw": "threw thrown",
        "cheap": "cheaply",
        "hard": "harder hardest",
        "easy": "easier easiest easily",
        "advice": "advise",
        "choice": "chose",
        "arrive": "arrival",
        "approve": "approval",
        "survive": "survival",
        "propose": "proposal",
        "apply": "application applications",
        "long": "length",
        "strong": "strength",
        "high": "height",
        "wide": "width",
        "invite": "invitation",
        "decide": "decision decisions",
        "explain": "explanation",
        "lay": "laid",
        "rise": "risen rose",
        "ride": "rode ridden",
        "steal": "stole stolen",
        "forget": "forgot forgotten",
        "grow": "grew grown",
        "blow": "blew blown",
        "wake": "woke woken",
        "light": "lit",
        "seek": "sought",
        "fight": "fought",
        "happy": "happily happiness",
        "health": "healthy healthier",
        "analyze": "analysis",
    }.items()
    for form in forms.split()
}


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    word = _IRREGULAR.get(word, word).replace("isation", "ization")
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
