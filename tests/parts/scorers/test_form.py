"""Form: what its parts come to in the scores."""

from tests.parts.scorers.test_scorers import all_three, scores

from darc.types import CutOff


def test_faults_of_form_cost() -> None:
    good = "Fold the paper once, then open it. Turn both corners to the middle, and press firmly."
    worse = [
        good + " Now get lost, you moron.",
        good.upper(),
        good[:-30],
        "<|assistant|> " + good,
        "What a great question! " + good + " Feel free to ask me more. I hope this helps!",
    ]
    first, *others = scores(all_three()[2], "How do I fold a paper plane?", good, *worse)
    assert max(others) < first - 0.05


def test_fewer_items_than_asked_for_score_lower() -> None:
    tips = ["Keep the same hours every day.", "Leave the phone outside.", "Drink less coffee."]
    listed = ["\n".join(f"{i}. {tip}" for i, tip in enumerate(tips[:n], 1)) for n in (3, 2)]
    form = all_three()[2]
    whole, short = scores(form, "Give me three tips for sleeping better.", *listed)
    prose, short_prose = scores(
        form, "Give me three tips for sleeping better.", " ".join(tips), " ".join(tips[:2])
    )
    assert short < 0.9 * whole
    assert short_prose < 0.9 * prose


def test_an_answer_cut_off_at_the_token_limit_scores_lower_wherever_it_ends() -> None:
    text = "Keep the same hours every day. Leave the phone outside the room."
    whole, cut = scores(all_three()[2], "How do I sleep better?", text, CutOff(text))
    assert cut < 0.7 * whole
