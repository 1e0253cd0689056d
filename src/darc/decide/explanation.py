"""Why an answer was chosen, in plain words about people."""

from collections.abc import Sequence

import numpy as np

from darc.decide.caution import caution_words
from darc.decide.decision import Decision
from darc.decide.opinions import PROBABLY_NOT_CHANCE, AnswerOpinions, Opinions
from darc.typing import Array

# With so few ratings each, the default assumptions decide more than the ratings do.
FEW_RATINGS = 3
# A larger difference between shares of unhappy people is worth a word, even where it may be chance.
NOTABLE_SHARE = 0.15
# More names than this are not listed.
MOST_NAMES = 5
# What is said in place of a control of caution where the samples are rewrites.
WORDING_NOTE = (
    "rewrites measure sensitivity to wording; use --rule epsilon for the paper's rule, or "
    "calibrate against ratings"
)


def explain(decision: Decision) -> str:
    """Why this candidate was chosen, in one to three sentences."""
    opinions = decision.opinions
    if opinions is None:
        return _explain_scores(decision)
    if len(opinions.answers) == 1:
        return f"{opinions.answer(decision.index).name} is the only answer."
    if "group_means" in decision.choice.facts:
        return _explain_for_groups(decision, opinions)
    if opinions.best_mean != opinions.chosen:
        return _explain_other(decision, opinions)
    rival = _tied_rival(opinions)
    if rival is not None:
        return _explain_tie(opinions, rival)
    return _explain_best_mean(opinions)


def _explain_for_groups(decision: Decision, opinions: Opinions) -> str:
    """Why an answer was chosen for some groups of raters."""
    chosen = opinions.answer(opinions.chosen)
    leader = opinions.answer(opinions.best_mean)
    facts = decision.choice.facts
    whom = str(facts["whom"][0])
    if "no_groups" in decision.flags:
        whom = "all raters"
    expected = float(decision.choice.objective[0, decision.index])
    start = f"{chosen.name} is expected to be best for {whom} ({_number(expected)})"
    if leader is chosen:
        return f"{start}, and it has the highest average ({_number(chosen.mean)})."
    means = " against ".join(_two_numbers(leader.mean, chosen.mean))
    return f"{start}; {leader.name} has the higher average ({means})."


def _tied_rival(opinions: Opinions) -> AnswerOpinions | None:
    """The most disliked answer with the same average as the choice, if it is disliked more."""
    chosen = opinions.answer(opinions.chosen)
    slack = 1e-9 * (1 + abs(chosen.mean))
    rivals = [
        answer
        for answer in opinions.answers
        if answer.complete and answer.eligible and abs(answer.mean - chosen.mean) <= slack
    ]
    worst = max(rivals, key=_share, default=chosen)
    if _share(worst) > _share(chosen):
        return worst
    return None


def _explain_tie(opinions: Opinions, rival: AnswerOpinions) -> str:
    """Why one of two answers with the same average was chosen."""
    chosen = opinions.answer(opinions.chosen)
    start = f"{chosen.name}, not {rival.name}: their averages are equal ({_number(chosen.mean)})"
    comparison = _comparison(rival, chosen, opinions)
    # Behind "their averages", "it" could be either of the two.
    comparison = comparison.replace(" with it", f" with {rival.name}", 1)
    comparison = comparison.replace(" it clearly lower", f" {rival.name} clearly lower", 1)
    return f"{start}, but {comparison}; {_chance(opinions, rival, chosen)}."


def _explain_best_mean(opinions: Opinions) -> str:
    """Why the answer with the highest average was chosen."""
    chosen = opinions.answer(opinions.chosen)
    others = [answer for answer in opinions.answers if answer is not chosen and answer.complete]
    average = f"{chosen.name} has the highest average ({_number(chosen.mean)})"
    fewest = min((answer.unhappy for answer in others), default=chosen.unhappy)
    people = _unhappy_clause(chosen, opinions)
    if max(answer.count for answer in opinions.answers) == 1:
        return f"{average}; with one rating each nothing is known of disagreement."
    others_unhappy = any(answer.unhappy for answer in others)
    if opinions.known_scale and chosen.unhappy == 0 and others_unhappy:
        return f"{average}, and {people}."
    if opinions.probability_different < PROBABLY_NOT_CHANCE:
        alike = "these answers divide people about equally"
        if chosen.unhappy == 0:
            return f"{average}, and {alike}."
        calmest = min(others, key=lambda answer: (_share(answer), -answer.mean), default=chosen)
        if _share(chosen) - _share(calmest) > NOTABLE_SHARE:
            fewer = "nobody"
            if calmest.unhappy:
                fewer = _of(calmest.unhappy, calmest.count)
            name = f"{calmest.name} ({_number(calmest.mean)})"
            if opinions.known_scale:
                return f"{average}; {people} and {fewer} with {name}, but that may be chance."
            return f"{average}; {people}, against {fewer} for {name}, but that may be chance."
        return f"{average}, and {alike}; {people}."
    if chosen.unhappy <= fewest:
        if 0 < chosen.unhappy < fewest:
            people += ", fewer than with any other answer"
        return f"{average}, and {people}."
    if opinions.caution is None:
        return f"{average}; {people}."
    if opinions.caution == 0:
        return f"{average}, which is all that counts with no caution; {people}."
    reason = "the calmer answers are rated too low to take its place"
    return f"{average}; {people}, but {reason} with {caution_words(opinions.caution)}."


def _explain_other(decision: Decision, opinions: Opinions) -> str:
    """Why another answer than the one with the highest average was chosen."""
    chosen = opinions.answer(opinions.chosen)
    leader = opinions.answer(opinions.best_mean)
    means = " against ".join(_two_numbers(leader.mean, chosen.mean))
    start = f"{chosen.name}, not {leader.name}: {leader.name} has the higher average ({means})"
    floor = decision.pools.standards.no_rating_below
    if floor is not None and not leader.eligible:
        low = sum(rating.value < floor for rating in leader.ratings)
        return f"{start}, but {_of(low, leader.count)} {_rate(low)} it below {floor:g}."
    other_reason = _reason_of_the_mean(decision, leader, chosen)
    if other_reason:
        return f"{start}, but {other_reason}."
    comparison = _comparison(leader, chosen, opinions)
    chance = _chance(opinions, leader, chosen)
    sentences = [f"{start}, but {comparison}; {chance}."]
    if opinions.caution is not None and opinions.probability_different > 0:
        given_up = leader.mean - chosen.mean
        name = caution_words(opinions.caution)
        sentences.append(
            f"{name[0].upper()}{name[1:]} gives up {given_up:.2g} points of the average for this."
        )
    return " ".join(sentences)


def _reason_of_the_mean(decision: Decision, leader: AnswerOpinions, chosen: AnswerOpinions) -> str:
    """Why the highest average is not the best estimate of the mean; empty where it is."""
    estimates = decision.choice.facts.get("shrunken")
    if estimates is None or estimates[0][leader.index] >= estimates[0][chosen.index]:
        return ""
    if leader.count < chosen.count:
        ratings = "1 rating" if leader.count == 1 else f"{leader.count} ratings"
        return f"it rests on {ratings} only"
    if decision.pools.systems is not None:
        return "what is known of the systems that wrote them speaks for the other"
    if decision.pools.raters is None:
        return ""
    return "its raters are more generous than others"


def _comparison(leader: AnswerOpinions, chosen: AnswerOpinions, opinions: Opinions) -> str:
    """What speaks against the answer with the highest average."""
    if _share(leader) > _share(chosen):
        if not opinions.known_scale:
            against = "nobody"
            if chosen.unhappy:
                against = _of(chosen.unhappy, chosen.count)
            low = f"{_of(leader.unhappy, leader.count)} {_rate(leader.unhappy)} it clearly lower"
            return f"{low}{_names(leader)}, against {against} for {chosen.name}"
        clause = _unhappy_clause(leader, opinions)
        if chosen.unhappy == 0:
            return f"{clause} and nobody with {chosen.name}"
        return f"{clause} and {_of(chosen.unhappy, chosen.count)} with {chosen.name}"
    apart = _two_numbers(_deviation(leader), _deviation(chosen))
    return f"its ratings lie further apart ({' against '.join(apart)})"


def _chance(opinions: Opinions, leader: AnswerOpinions, chosen: AnswerOpinions) -> str:
    """Whether the difference in disagreement between two answers may be chance."""
    if max(leader.count, chosen.count) <= FEW_RATINGS:
        return "with so few ratings caution decides, not evidence"
    words = opinions.chance_words()
    if words.startswith("may"):
        return f"that {words}"
    return f"that is {words}"


def _share(answer: AnswerOpinions) -> float:
    return answer.unhappy / max(answer.count, 1)


def _unhappy_clause(answer: AnswerOpinions, opinions: Opinions) -> str:
    """Who is unhappy with an answer, such as "3 of 8 are unhappy with it"."""
    if not opinions.known_scale:
        if answer.unhappy == 0:
            return "nobody rates it clearly lower"
        amount = _of(answer.unhappy, answer.count)
        return f"{amount} {_rate(answer.unhappy)} it clearly lower{_names(answer)}"
    if answer.unhappy == 0:
        return "nobody is unhappy with it"
    verb = "is" if answer.unhappy == 1 else "are"
    return f"{_of(answer.unhappy, answer.count)} {verb} unhappy with it{_names(answer)}"


def _of(part: int, total: int) -> str:
    return f"{part} of {total}"


def _rate(people: int) -> str:
    return "rates" if people == 1 else "rate"


def _names(answer: AnswerOpinions) -> str:
    """The names of the unhappy in brackets, empty where they are not known or too many."""
    names = answer.unhappy_raters
    if not names or len(names) > MOST_NAMES:
        return ""
    return f" ({join_words(names)})"


def join_words(words: Sequence[str]) -> str:
    """Words in a row, such as "hurried, sceptic and elsewhere"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _deviation(answer: AnswerOpinions) -> float:
    values = [rating.value for rating in answer.ratings]
    if len(values) < 2:
        return 0.0
    return float(np.std(values, ddof=1))


def _number(number: float) -> str:
    """A number with as many digits as a reader needs."""
    if number != number:
        return "not known"
    size = abs(number)
    if 1 <= size < 1e6:
        return f"{number:.1f}"
    if number == 0 or 0.1 <= size < 1:
        return f"{number:.2f}"
    return f"{number:.3g}"


def _two_numbers(one: float, other: float) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to tell them apart."""
    texts = (_number(one), _number(other))
    if texts[0] != texts[1] or one == other:
        return texts
    for decimals in range(2, 12):
        texts = (f"{one:.{decimals}f}", f"{other:.{decimals}f}")
        if texts[0] != texts[1]:
            return texts
    return f"{one:.6g}", f"{other:.6g}"


def _explain_scores(decision: Decision) -> str:
    """Why, for scores of rewrites or of several scorers: about wording, not about people."""
    name = decision.labels.candidate(decision.index)
    statistics = decision.statistics
    mean = _complete(decision, statistics.mean)
    eligible = decision.pools.eligible[0]
    wording = decision.pools.about_wording
    if int(eligible.sum()) == 1:
        if decision.partly:
            return f"{name}: every other answer was ruled out before all its scores were needed."
        if int(decision.pools.present[0].sum()) == 1:
            return f"{name} is the only answer."
        return f"{name} is the only answer with enough scores."
    over = " over the wordings of each answer" if wording else ""
    if decision.partly:
        over += ", of the answers that were scored in full"
    hedge = ""
    lowest = decision.choice.facts.get("scorer")
    if lowest is not None:
        hedge = f" It is lowest by {decision.labels.scorer(int(lowest[0]))}."
    leader = int(np.nanargmax(np.where(eligible, mean, np.nan)))
    ahead = mean[leader] - mean[decision.index]
    if leader == decision.index or ahead <= float(decision.pools.tolerance[0].max()):
        return f"{name} has the highest average score{over}.{hedge}"
    other = decision.labels.candidate(leader)
    means = " against ".join(_two_numbers(mean[leader], mean[decision.index]))
    sigma = _complete(decision, statistics.sigma)
    reason = "by the rule it is behind"
    lower_by = _scorer_against(decision, leader)
    if lower_by:
        reason = lower_by
    elif wording and sigma[leader] > sigma[decision.index]:
        apart = " against ".join(_two_numbers(sigma[leader], sigma[decision.index]))
        reason = f"its scores depend more on the wording ({apart})"
    elif lowest is not None:
        reason = "one of its scorers rates it lower"
    start = f"{name}, not {other}: {other} has the higher average score{over} ({means})"
    return f"{start}, but {reason}.{hedge}"


def _scorer_against(decision: Decision, leader: int) -> str:
    """Which of several scorers rates the leader lowest, if it rates the choice higher."""
    by_scorer = decision.statistics.by_scorer
    if by_scorer is None or len(by_scorer.mean) < 2:
        return ""
    means = by_scorer.mean[:, leader]
    if np.isnan(means).all():
        return ""
    lowest = int(np.nanargmin(means))
    chosen = float(by_scorer.mean[lowest, decision.index])
    if not means[lowest] < chosen:
        return ""
    numbers = " against ".join(_two_numbers(float(means[lowest]), chosen))
    return f"{decision.labels.scorer(lowest)} rates it lower ({numbers})"


def _complete(decision: Decision, numbers: Array) -> Array:
    """Numbers of the candidates, NaN for those that were ruled out early: theirs are bounds."""
    if decision.bounded is None:
        return numbers
    return np.where(decision.bounded, np.nan, numbers)
