"""Words that people rate with, in English, German, French and Spanish, and what they stand for.

A scale is symmetric about a middle ("disagree" to "agree"), a ladder of quality ("poor" to
"excellent"), or the degrees of one quality ("not at all helpful" to "extremely helpful").
"""

import re
from collections.abc import Collection, Iterator, Mapping

#: What a cell says that holds no rating.
NO_RATING = frozenset(
    {"", "n/a", "na", "#n/a", "nan", "null", "none", "nil", "-", "--", ".", "?"}
    | {"\u2013", "\u2014"}
    | {"(blank)", "skip", "skipped", "missing", "not applicable", "no answer", "nsp", "ns/nc"}
    | {"don't know", "do not know", "dont know", "i don't know", "prefer not to say"}
    | {"k.a.", "k. a.", "keine angabe", "weiß nicht", "weiss nicht", "nicht beurteilbar"}
    | {"sans réponse", "ne sait pas", "ne se prononce pas", "non applicable"}
    | {"no aplica", "no sabe", "no contesta", "no sé"}
)

# Symmetric scales: what is said at each distance from the middle, in any of the languages.
_AGREEMENT = {
    3: "strongly agree; completely agree; totally agree; fully agree; absolutely agree; "
    "agree strongly; agree completely; very much agree; stimme voll zu; stimme voll und ganz zu; "
    "stimme vollkommen zu; stimme völlig zu; stimme vollständig zu; stimme stark zu; "
    "stimme sehr zu; trifft voll zu; trifft voll und ganz zu; trifft völlig zu; "
    "trifft vollkommen zu; trifft genau zu; tout à fait d'accord; entièrement d'accord; "
    "totalement d'accord; complètement d'accord; fortement d'accord; très d'accord; "
    "totalmente de acuerdo; completamente de acuerdo; muy de acuerdo; fuertemente de acuerdo",
    2: "agree; mostly agree; stimme zu; trifft zu; zustimmung; d'accord; de acuerdo",
    1: "somewhat agree; slightly agree; rather agree; partly agree; partially agree; "
    "tend to agree; weakly agree; agree somewhat; agree slightly; stimme eher zu; "
    "stimme teilweise zu; stimme etwas zu; trifft eher zu; trifft teilweise zu; plutôt d'accord; "
    "assez d'accord; partiellement d'accord; un peu d'accord; algo de acuerdo; "
    "parcialmente de acuerdo; más bien de acuerdo; un poco de acuerdo",
    0: "neutral; neither agree nor disagree; neither agree or disagree; neither; undecided; "
    "unsure; not sure; no opinion; neither nor; teils teils; teils/teils; teils, teils; "
    "weder noch; weder/noch; unentschieden; weder zustimmung noch ablehnung; neutre; sans opinion; "
    "ni d'accord ni pas d'accord; ni d'accord ni en désaccord; ni en accord ni en désaccord; "
    "indifférent; neutro; ni de acuerdo ni en desacuerdo; indiferente; indeciso",
    -1: "somewhat disagree; slightly disagree; rather disagree; partly disagree; "
    "partially disagree; tend to disagree; weakly disagree; disagree somewhat; disagree slightly; "
    "stimme eher nicht zu; trifft eher nicht zu; lehne eher ab; stimme teilweise nicht zu; "
    "plutôt pas d'accord; plutôt en désaccord; partiellement en désaccord; un peu en désaccord; "
    "algo en desacuerdo; parcialmente en desacuerdo; más bien en desacuerdo; un poco en desacuerdo",
    -2: "disagree; mostly disagree; stimme nicht zu; trifft nicht zu; lehne ab; ablehnung; "
    "pas d'accord; en désaccord; désaccord; en desacuerdo; desacuerdo; no estoy de acuerdo",
    -3: "strongly disagree; completely disagree; totally disagree; fully disagree; "
    "absolutely disagree; disagree strongly; disagree completely; stimme überhaupt nicht zu; "
    "stimme gar nicht zu; stimme ganz und gar nicht zu; trifft überhaupt nicht zu; "
    "trifft gar nicht zu; lehne stark ab; lehne völlig ab; lehne voll und ganz ab; "
    "pas du tout d'accord; tout à fait en désaccord; entièrement en désaccord; "
    "totalement en désaccord; fortement en désaccord; complètement en désaccord; "
    "totalmente en desacuerdo; completamente en desacuerdo; muy en desacuerdo; "
    "fuertemente en desacuerdo; nada de acuerdo",
}
_SATISFACTION = {
    3: "very satisfied; extremely satisfied; completely satisfied; sehr zufrieden; "
    "äußerst zufrieden; très satisfait; très satisfaite; tout à fait satisfait; muy satisfecho; "
    "muy satisfecha; totalmente satisfecho",
    2: "satisfied; zufrieden; satisfait; satisfaite; satisfecho; satisfecha",
    1: "somewhat satisfied; slightly satisfied; rather satisfied; eher zufrieden; "
    "plutôt satisfait; plutôt satisfaite; assez satisfait; algo satisfecho; algo satisfecha",
    0: "neutral; neither satisfied nor dissatisfied; neither; teils teils; teils/teils; "
    "weder noch; weder zufrieden noch unzufrieden; neutre; ni satisfait ni insatisfait; neutro; "
    "ni satisfecho ni insatisfecho; indiferente; indifférent",
    -1: "somewhat dissatisfied; slightly dissatisfied; rather dissatisfied; somewhat unsatisfied; "
    "eher unzufrieden; plutôt insatisfait; plutôt insatisfaite; algo insatisfecho; "
    "algo insatisfecha",
    -2: "dissatisfied; unsatisfied; unzufrieden; insatisfait; insatisfaite; pas satisfait; "
    "insatisfecho; insatisfecha",
    -3: "very dissatisfied; extremely dissatisfied; completely dissatisfied; very unsatisfied; "
    "sehr unzufrieden; äußerst unzufrieden; très insatisfait; très insatisfaite; "
    "pas du tout satisfait; muy insatisfecho; muy insatisfecha; totalmente insatisfecho",
}
_LIKELIHOOD = {
    3: "very likely; extremely likely; definitely; sehr wahrscheinlich; très probable; "
    "muy probable",
    2: "likely; probably; wahrscheinlich; probable",
    1: "somewhat likely; slightly likely; eher wahrscheinlich; assez probable; plutôt probable; "
    "algo probable",
    0: "neutral; neither likely nor unlikely; neither; possibly; vielleicht; neutre; peut-être; "
    "neutro; quizás; tal vez",
    -1: "somewhat unlikely; slightly unlikely; eher unwahrscheinlich; plutôt improbable; "
    "algo improbable",
    -2: "unlikely; probably not; unwahrscheinlich; improbable; peu probable; poco probable",
    -3: "very unlikely; extremely unlikely; definitely not; sehr unwahrscheinlich; "
    "très improbable; muy improbable; nada probable",
}
_LIKING = {
    3: "love it; like very much; like it a lot; gefällt mir sehr; j'adore; me encanta",
    2: "like it; like; gefällt mir; j'aime; me gusta",
    0: "neutral; ok; neutre; neutro; geht so",
    -2: "dislike it; dislike; gefällt mir nicht; je n'aime pas; no me gusta",
    -3: "hate it; dislike very much; gefällt mir gar nicht; je déteste; lo odio; no me gusta nada",
}
_SYMMETRIC = (_AGREEMENT, _SATISFACTION, _LIKELIHOOD, _LIKING)

# Ladders: one rung after the other, the worst first. A ladder fits if it has all the words.
_WORST = (
    "terrible; awful; horrible; dreadful; very bad; very poor; extremely bad; extremely poor; "
    "sehr schlecht; miserabel; furchtbar; très mauvais; très mauvaise; très mal; nul; exécrable; "
    "muy malo; muy mala; muy mal; pésimo; pésima"
)
_BAD = "bad; poor; schlecht; mauvais; mauvaise; mal; médiocre; malo; mala; deficiente"
_FAIR = (
    "fair; ok; okay; o.k.; average; acceptable; adequate; fine; satisfactory; neutral; mediocre; "
    "so-so; so so; medium; mittel; mittelmäßig; mittelmässig; durchschnittlich; befriedigend; "
    "akzeptabel; geht so; moyen; moyenne; passable; correct; correcte; assez bien; neutre; "
    "regular; aceptable; normal; neutro"
)
_GOOD = "good; gut; bon; bonne; bien; bueno; buena; buen"
_VERY_GOOD = (
    "very good; great; sehr gut; très bon; très bonne; très bien; muy bueno; muy buena; muy bien"
)
_EXCELLENT = (
    "excellent; outstanding; perfect; exceptional; superb; amazing; ausgezeichnet; hervorragend; "
    "exzellent; perfekt; excellente; parfait; parfaite; excelente; perfecto; perfecta"
)
_LADDERS: tuple[tuple[str, ...], ...] = (
    (_WORST, _BAD, _FAIR, _GOOD, _VERY_GOOD),
    (_WORST, _BAD, _FAIR, _GOOD, _EXCELLENT),
    (_BAD, _FAIR, _GOOD, _VERY_GOOD, _EXCELLENT),
    (_WORST, _BAD, _FAIR, _GOOD, _VERY_GOOD, _EXCELLENT),
    ("ungenügend", "mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut"),
    (
        "never; nie; niemals; jamais; nunca",
        "rarely; seldom; selten; rarement; raramente; rara vez",
        "sometimes; occasionally; manchmal; gelegentlich; parfois; a veces; algunas veces",
        "often; frequently; usually; oft; häufig; souvent; a menudo; frecuentemente",
        "always; immer; toujours; siempre",
    ),
    (
        "very low; sehr niedrig; très faible; muy bajo",
        "low; niedrig; gering; faible; bajo",
        "medium; moderate; mittel; moyen; medio; neutral",
        "high; hoch; élevé; fort; alto",
        "very high; sehr hoch; très élevé; muy alto",
    ),
    (
        "much worse; viel schlechter; bien pire; mucho peor",
        "worse; schlechter; pire; peor",
        "the same; about the same; same; equal; gleich; pareil; igual",
        "better; besser; meilleur; mieux; mejor",
        "much better; viel besser; bien meilleur; mucho mejor",
    ),
)
# Ladders that begin at 0.
_ZERO_LADDERS: tuple[tuple[str, ...], ...] = (
    (
        "no; n; false; nein; falsch; non; faux; falso; 👎; thumbs down; incorrect; fail",
        "yes; y; true; ja; wahr; oui; vrai; sí; si; verdadero; 👍; thumbs up; pass",
    ),
)

# Degrees of one quality, which stands behind them or is left out.
_DEGREES = (
    "not at all; not; überhaupt nicht; gar nicht; nicht; pas du tout; pas; nada; no",
    "slightly; a little; hardly; barely; kaum; wenig; etwas; un peu; peu; poco; un poco",
    (
        "somewhat; moderately; fairly; partly; mäßig; mittelmäßig; teilweise; einigermaßen; "
        "moyennement; modérément; assez; algo; moderadamente; medianamente"
    ),
    "very; quite; mostly; ziemlich; sehr; très; plutôt; muy; bastante",
    (
        "extremely; completely; äußerst; extrem; völlig; voll und ganz; extrêmement; tout à fait; "
        "extremadamente; totalmente"
    ),
)
_SPACE = re.compile(r"[\s_\u00a0]+")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "`": "'", "\u00b4": "'"})
# The middle of a scale, for words that are not known.
_MIDDLE = 3.0


def plain_word(text: str) -> str:
    """A word as it is compared: without case, outer punctuation and superfluous spaces."""
    word = _SPACE.sub(" ", text.translate(_APOSTROPHES)).strip().casefold()
    if word in NO_RATING:
        return word
    return word.strip(' .,;:!"')


def word_scale(words: Collection[str]) -> dict[str, float] | None:
    """The numbers of words that belong to one scale.

    Args:
        words: Words as `plain_word` returns them.

    Returns:
        The number of each word, larger where it is better, or None if no known scale has all.
    """
    for scale in _scales(words):
        if all(word in scale for word in words):
            return {word: scale[word] for word in words}
    return None


def likely_order(words: Collection[str]) -> dict[str, float | None]:
    """Words from the worst to the best, as far as they are known, with their numbers.

    Args:
        words: Words as `plain_word` returns them.

    Returns:
        The number of each word, None for those that are not known. Numbers are of the scale that
        knows most of the words.
    """
    best: Mapping[str, float] = {}
    for scale in _scales(words):
        if sum(word in scale for word in words) > sum(word in best for word in words):
            best = scale
    numbers = {word: best.get(word) for word in words}

    def place(word: str) -> float:
        number = numbers[word]
        return _MIDDLE if number is None else number

    return {word: numbers[word] for word in sorted(words, key=place)}


def _scales(words: Collection[str]) -> Iterator[Mapping[str, float]]:
    """The scales that some words may be of, each with all words that it knows."""
    for symmetric in _SYMMETRIC:
        yield _symmetric_scale(symmetric, words)
    for ladder in _LADDERS:
        yield _ladder_scale(ladder, 1)
    yield _degree_scale(words)
    for ladder in _ZERO_LADDERS:
        yield _ladder_scale(ladder, 0)


def _split(texts: str) -> list[str]:
    return [plain_word(text) for text in texts.split("; ")]


def _ladder_scale(ladder: Collection[str], lowest: int) -> dict[str, float]:
    scale: dict[str, float] = {}
    for number, rung in enumerate(ladder, lowest):
        for word in _split(rung):
            scale.setdefault(word, float(number))
    return scale


def _symmetric_scale(levels: Mapping[int, str], words: Collection[str]) -> dict[str, float]:
    """The numbers from 1 up of a symmetric scale with as many steps as the words show.

    "Somewhat agree" makes a scale of seven beside "agree", and of five without it.
    """
    level_of = {word: level for level, texts in levels.items() for word in _split(texts)}
    used = {level_of[word] for word in words if word in level_of}
    if not used - {0}:
        used = {-3, -2, 2, 3}
    above = sorted(level for level in used if level > 0)
    below = sorted(-level for level in used if level < 0)
    if len(above) == len(below) > 1:
        # Paired by rank: "agree completely" may stand against "disagree".
        steps_above = {level: rank for rank, level in enumerate(above, 1)}
        steps_below = {level: rank for rank, level in enumerate(below, 1)}
        most = len(above)
    else:
        distances = sorted({*above, *below})
        steps_above = {level: rank for rank, level in enumerate(distances, 1)}
        steps_below = steps_above
        most = len(distances)
    scale = {}
    for word, level in level_of.items():
        if level == 0:
            scale[word] = float(most + 1)
        elif level in steps_above and level > 0:
            scale[word] = float(most + 1 + steps_above[level])
        elif -level in steps_below and level < 0:
            scale[word] = float(most + 1 - steps_below[-level])
    return scale


def _degree_scale(words: Collection[str]) -> dict[str, float]:
    """The degrees of the one quality that all words name, empty if they name several."""
    degree_of = {
        degree: float(number) for number, rung in enumerate(_DEGREES, 1) for degree in _split(rung)
    }
    longest_first = sorted(degree_of, key=len, reverse=True)
    scale = {"neutral": _MIDDLE}
    qualities = set()
    for word in words:
        degree = next(
            (degree for degree in longest_first if f"{word} ".startswith(f"{degree} ")), None
        )
        if degree is not None:
            scale[word] = degree_of[degree]
            qualities.add(word.removeprefix(degree).strip())
    if len(qualities) != 1:
        return {}
    (quality,) = qualities
    if quality in words:
        # "Helpful" beside "not helpful" and "very helpful".
        scale[quality] = _MIDDLE
    return scale
