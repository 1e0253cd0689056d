"""Thirty small pools from daily life, each with the choice that we think is right.

`docs/cases.md` is made of them, so that a reader can disagree with any.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One question, its answers with their ratings, and the answer that medium caution takes."""

    question: str
    scale: tuple[float, float]
    ratings: Mapping[str, Sequence[float]]
    chosen: str
    why: str


CASES = [
    Case(
        "A toast for a wedding",
        (0, 10),
        {"the roast": [9, 9, 9, 9, 9, 2, 2, 2], "the story": [6, 6, 6, 6, 6, 6, 6, 6]},
        "the story",
        "Three of eight guests would wince at the roast.",
    ),
    Case(
        "A toast, and nobody cares for the safe one",
        (0, 10),
        {"the roast": [9, 9, 9, 9, 9, 2, 2, 2], "the short one": [4, 4, 4, 4, 4, 4, 4, 4]},
        "the roast",
        "A dull toast that nobody likes is no answer to a divisive one.",
    ),
    Case(
        "Where should the team have lunch?",
        (1, 5),
        {
            "the steak house": [5, 5, 5, 5, 5, 1, 1, 1],
            "the noodle bar": [3, 4, 3, 4, 3, 4, 3, 3],
        },
        "the noodle bar",
        "Three people would have nothing to eat.",
    ),
    Case(
        "A gift for a colleague who leaves",
        (0, 10),
        {"a voucher": [7, 6, 7, 7, 6, 7], "a gag present": [10, 10, 9, 1, 10, 0]},
        "a voucher",
        "Two of six find the joke in bad taste, and the averages are equal.",
    ),
    Case(
        "Advice on quitting a job without another one",
        (0, 10),
        {
            "Do it today": [9, 10, 9, 2, 1, 9, 2, 9, 1],
            "Save six months of pay first": [7, 7, 8, 7, 7, 6, 8, 7, 7],
        },
        "Save six months of pay first",
        "It is also better on average.",
    ),
    Case(
        "Reply to an angry customer",
        (1, 5),
        {"apologise and refund": [4, 5, 4, 4, 5, 4], "quote the contract": [2, 3, 2, 4, 1, 2]},
        "apologise and refund",
        "Everybody rates it higher.",
    ),
    Case(
        "A holiday for three generations",
        (0, 10),
        {
            "a music festival": [10, 10, 9, 10, 1, 1],
            "a lake house": [7, 7, 8, 7, 7, 7],
            "a coach tour": [3, 4, 3, 3, 9, 9],
        },
        "a lake house",
        "The grandparents would hate the festival.",
    ),
    Case(
        "Name of the new kitten",
        (0, 10),
        {"Mia": [7, 8, 7, 7], "Luna": [8, 7, 8, 8], "Tiger": [6, 7, 7, 6]},
        "Luna",
        "All names divide the family about equally, so the average decides.",
    ),
    Case(
        "One of three dislikes it",
        (0, 10),
        {"spicy stew": [9, 9, 2], "vegetable soup": [6, 6, 6]},
        "vegetable soup",
        "With three ratings caution decides, and the explanation says so.",
    ),
    Case(
        "One of three dislikes it, and the other dish is poor",
        (0, 10),
        {"spicy stew": [9, 9, 2], "dry toast": [4, 4, 4]},
        "spicy stew",
        "The safe dish is too far behind.",
    ),
    Case(
        "Two people, two answers",
        (0, 10),
        {"cinema": [8, 7], "bowling": [7, 6]},
        "cinema",
        "Both like it more.",
    ),
    Case(
        "A single enthusiast",
        (0, 10),
        {
            "karaoke": [7],
            "quiz night": [8, 8, 7, 8, 9, 8],
            "bingo": [7, 8, 7, 7, 8, 7],
        },
        "quiz night",
        "One rating is not agreement.",
    ),
    Case(
        "A show of hands",
        (0, 1),
        {"meet on Monday": [1, 1, 1, 0, 0, 0, 0, 0, 0, 0], "meet on Friday": [1] * 7 + [0] * 3},
        "meet on Friday",
        "More votes win.",
    ),
    Case(
        "A show of hands, nearly equal",
        (0, 1),
        {"blue": [1] * 8 + [0] * 2, "green": [1] * 9 + [0]},
        "green",
        "More votes win here too: votes show no disagreement beyond their share.",
    ),
    Case(
        "A vote with abstentions",
        (-1, 1),
        {
            "ban cars from the square": [1, 1, 1, 1, 1, 1, -1, -1, -1, -1, 1, -1],
            "wider pavements": [1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0],
        },
        "wider pavements",
        "It passes with nobody against it.",
    ),
    Case(
        "Explaining a tax letter",
        (0, 100),
        {
            "in plain words": [78, 82, 75, 80, 77, 81],
            "with paragraphs of the law": [95, 92, 30, 25, 96, 28],
            "in one sentence": [60, 55, 58, 62, 57, 59],
        },
        "in plain words",
        "Half of the readers are lost among the paragraphs.",
    ),
    Case(
        "Four of twenty guests cannot eat it",
        (0, 10),
        {"lasagne": [9] * 16 + [2] * 4, "risotto": [7] * 20},
        "risotto",
        "Four of twenty is no accident.",
    ),
    Case(
        "One of twenty guests has a bad day",
        (0, 10),
        {
            "lasagne": [9, 8, 9, 8, 9, 8, 9, 8, 9, 8, 9, 8, 9, 8, 9, 8, 9, 8, 9, 1],
            "risotto": [7, 6, 7, 6, 7, 6, 7, 6, 7, 6, 7, 6, 7, 6, 7, 6, 7, 6, 7, 6],
        },
        "lasagne",
        "One of twenty is taken for an accident; --no-rating-below is for those who must not.",
    ),
    Case(
        "Five of fifty, and the alternative is weak",
        (0, 10),
        {"the new logo": [9] * 45 + [2] * 5, "the old logo": [5] * 50},
        "the new logo",
        "The old logo is too far behind.",
    ),
    Case(
        "Nineteen of fifty",
        (0, 10),
        {"the new logo": [9] * 31 + [2] * 19, "the old logo": [6] * 50},
        "the old logo",
        "Nineteen of fifty people dislike the new one.",
    ),
    Case(
        "Everybody is lukewarm, one answer is loved by some",
        (1, 5),
        {"the safe speech": [1] * 8, "the bold speech": [1, 1, 1, 1, 2, 3, 4, 5]},
        "the bold speech",
        "It is nowhere worse: agreement on the worst grade is worth nothing.",
    ),
    Case(
        "Better for everybody, with a wider spread",
        (0, 10),
        {"version A": [5] * 8, "version B": [9, 9, 10, 8, 9, 9, 7, 9]},
        "version B",
        "Nobody would rather have version A.",
    ),
    Case(
        "A bedtime story",
        (0, 10),
        {
            "the dragon": [10, 9, 3, 10, 2],
            "the bear": [7, 8, 7, 7, 8],
            "the train": [6, 6, 7, 6, 5],
        },
        "the bear",
        "Two of five children cannot sleep after the dragon.",
    ),
    Case(
        "Which film tonight?",
        (0, 10),
        {
            "horror": [9, 9, 1, 9, 1, 9],
            "comedy": [7, 6, 7, 7, 8, 7],
            "documentary": [6, 7, 5, 6, 6, 6],
        },
        "comedy",
        "It has the highest average, and nobody minds it.",
    ),
    Case(
        "A joke for a birthday card",
        (0, 10),
        {
            "the pun": [6, 7, 6, 6, 7, 6, 7, 6],
            "the joke about age": [8, 9, 8, 2, 9, 8, 3, 8],
        },
        "the pun",
        "Two of eight would be hurt, and the pun is close behind.",
    ),
    Case(
        "Directions to the station",
        (0, 10),
        {
            "by landmarks": [8, 9, 8, 8, 7, 8],
            "by street names": [7, 8, 7, 8, 7, 7],
            "by compass": [4, 9, 3, 8, 4, 3],
        },
        "by landmarks",
        "The best average, and as calm as any.",
    ),
    Case(
        "All answers are poor",
        (0, 10),
        {"a shrug": [2, 1, 2, 2, 1, 2], "a lecture": [3, 2, 3, 2, 2, 3]},
        "a lecture",
        "The decision is flagged: none of these answers is good.",
    ),
    Case(
        "The same ratings in another order",
        (0, 10),
        {"first": [4, 6, 4, 5], "second": [4, 5, 4, 6]},
        "first",
        "Nothing tells them apart.",
    ),
    Case(
        "More ratings for one of two equals",
        (0, 10),
        {"the short answer": [6], "the long answer": [5, 7, 6, 6, 5, 7]},
        "the long answer",
        "The averages are equal, and one of them is known better.",
    ),
    Case(
        "A reply in a support chat, graded by eight raters",
        (0, 10),
        {
            "step by step": [8, 7, 8, 9, 8, 7, 8, 8],
            "a link to the manual": [9, 3, 4, 9, 9, 4, 9, 9],
            "a clever one-liner": [10, 1, 2, 10, 10, 1, 10, 9],
        },
        "step by step",
        "The best average too.",
    ),
]
