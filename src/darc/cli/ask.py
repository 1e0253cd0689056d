"""`darc ask`: choose one of several answers to a question."""

import sys
from typing import TYPE_CHECKING, Any

from darc.cli.choosing import note_wording
from darc.cli.commands import Command
from darc.cli.engines import make_engine, say_cost
from darc.cli.first_model import find_model
from darc.cli.outcome_output import write_outcome
from darc.cli.output import counting, say
from darc.cli.toy_model import toy_model_note
from darc.settings.ask import AskSettings

if TYPE_CHECKING:
    from darc.engine.engine import Engine
    from darc.engine.outcome import Outcome
    from darc.types import Prompt


def run(settings: AskSettings) -> None:
    """Get the answers, choose one, and print it."""
    from darc.parts.generators.inputs import as_prompt

    question = settings.question
    if question == "-":
        question = sys.stdin.read()
    prompt = as_prompt(question)
    has_answers = bool(settings.answers or settings.answer)
    note = ""
    if not has_answers:
        settings = _with_found_model(settings)
        note = toy_model_note(settings.generator, "darc ask QUESTION")
    with make_engine(settings, with_model=not has_answers) as engine:
        if settings.caution is not None and engine.parts.panel is None:
            note_wording("rewrite")
        embeddings = _embeddings(engine)
        _say_embeddings(embeddings)
        if note:
            say(note)
        if has_answers:
            outcome = _choose(engine, prompt, question, settings)
        else:
            outcome = _ask(engine, prompt, settings)
    write_outcome(outcome, settings, **_json_fields(outcome, embeddings, note))


def _with_found_model(settings: AskSettings) -> AskSettings:
    """The settings with a model that was found, if none is named."""
    if "generator" in settings.model_fields_set:
        return settings
    may_ask = settings.question != "-"
    model = find_model(settings, "--generator", may_ask)
    return settings.model_copy(update={"generator": model.generator})


def _choose(engine: "Engine", prompt: "Prompt", question: str, settings: AskSettings) -> "Outcome":
    """Choose among the user's own answers."""
    from darc.runs.answers import read_answers

    answers = read_answers(settings.answers, prompt.id, settings.answer, question)
    say_cost(engine, len(answers), settings.full)
    return engine.choose(prompt, answers, score_everything=settings.full, also_best_of_k=True)


def _ask(engine: "Engine", prompt: "Prompt", settings: AskSettings) -> "Outcome":
    """Let the model write answers, and choose among them."""
    assert engine.generator is not None
    k = engine.sampling.k
    say_cost(engine, k, settings.full)
    at_most = ""
    if engine.stopping:
        at_most = "at most "
    say(f"writing {at_most}{k} answers ({engine.generator.name}) ...")
    with counting(k, "answers written") as report:
        return engine.ask(
            prompt, score_everything=settings.full, also_best_of_k=True, report=report
        )


def _embeddings(engine: "Engine") -> dict[str, str]:
    """The embedding model of every scorer that uses one."""
    return {scorer.name: scorer.embeddings for scorer in engine.tools.scorers if scorer.embeddings}


def _say_embeddings(embeddings: dict[str, str]) -> None:
    """Say which scorers use another embedding model than the usual one."""
    from darc.models.embeddings import Embeddings

    for scorer, model in embeddings.items():
        if model != Embeddings.name:
            say(f"{scorer} uses the embeddings {model}")


def _json_fields(outcome: "Outcome", embeddings: dict[str, str], note: str) -> dict[str, Any]:
    """What the JSON object has besides the decision and the answer."""
    from darc.decide.flags import flag_words, without_repetition
    from darc.engine.flags import FLAG_SENTENCES

    flags = without_repetition(outcome.flags)
    notes = [{"name": flag, "text": flag_words(flag, FLAG_SENTENCES)} for flag in flags]
    if outcome.limits and outcome.decision is not None:
        notes.insert(0, {"name": "surface_scorers", "text": outcome.limits})
    if note:
        notes.insert(0, {"name": "toy_model", "text": note})
    fields: dict[str, Any] = {
        "calls": outcome.calls,
        "flags": list(outcome.flags),
        "saved": outcome.saved,
        "embeddings": embeddings,
    }
    if outcome.rated:
        fields["panel"] = outcome.panel()
    fields["best_of_k"] = outcome.best_of_k
    fields["milliseconds"] = {name: round(ms, 1) for name, ms in outcome.milliseconds.items()}
    fields["notes"] = notes
    return fields


COMMAND = Command(AskSettings, run)
