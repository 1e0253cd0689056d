"""The flags of an outcome: what went otherwise than asked, as short names and as sentences."""

from darc.decide.flags import FLAGS

FEWER_CANDIDATES = "fewer_candidates"
MODEL_FAILED = "model_failed"
FEWER_SCORERS = "fewer_scorers"
BUDGET_MILLISECONDS = "budget_milliseconds"
STOPPED_EARLY = "stopped_early"
BEST_OF_K = "best_of_k"
FIRST_CANDIDATE = "first_candidate"

#: What each flag means. A flag such as "scorer_failed:form" fills the braces with what follows
#: the colon.
FLAG_SENTENCES = {
    **FLAGS,
    FEWER_CANDIDATES: "some candidates could not be made",
    MODEL_FAILED: "the model {} wrote nothing, so the others' answers were chosen among",
    FEWER_SCORERS: "not every scorer had answered in time",
    BUDGET_MILLISECONDS: "the time was up; this is the best choice so far",
    "budget_calls": "the budget of scores was used up; this is the best choice so far",
    "budget_upstream": "the calls or tokens of the request were used up",
    STOPPED_EARLY: "further candidates were not worth their cost",
    "scorer_failed": "scorer {} failed and was left out",
    "rewriter_failed": "the rewriter failed, so each answer was scored once",
    "rule_failed": "the rule could not be applied",
    BEST_OF_K: "the rule could not be applied, so the largest mean was taken",
    FIRST_CANDIDATE: "nothing could be scored, so the first answer was taken",
    "few_rewrites": "answers that can be rewritten few times only were judged on what they have",
    "not_rewritten": "answers of a prescribed form are not rewritten: each was scored once",
    "more_candidates": "none of the first {} answers was good, so more were written",
    "majority": "the same answer was written {} times, so no other was graded",
    "fallback": "the first answers were not good enough, so the model {} was asked, too",
    "one_candidate": "there was one candidate only",
    "one_answer": "all {} answers are the same",
    "copies": "answers that repeat another one and count with it: {}",
    "same_text": "{} have the same text and count as one answer",
    "fewer_choices": "different answers that could be returned: {}",
    "fewer_rewrites": "the answers are long, so each was rewritten fewer times",
    "too_long": "the answers are too long to be scored",
    "text_only": "scorers saw the text of the conversation only, not its images or sounds",
    "no_text": "no answer has any text to be scored",
    "not_english": "the question or the answers do not look like English, which is the only "
    "language that these scorers and the rule rewriter know",
}
