"""What the tools do."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from darc.decide.caution import parse_caution
from darc.decide.method import Method
from darc.decide.select import select
from darc.decide.standards import parse_scale
from darc.engine.engine import Engine
from darc.errors import InputError
from darc.mcp.allowed_folders import AllowedFolders
from darc.mcp.arguments import (
    AskArguments,
    ChooseArguments,
    CompareArguments,
    ExplainArguments,
    MethodArguments,
)
from darc.mcp.decision_log import DecisionLog
from darc.mcp.describing import (
    Explained,
    comparison_result,
    explained_decision,
    explained_outcome,
)
from darc.mcp.results import ChoiceResult, ComparisonResult, ExplanationResult


class Tools:
    """The tools of one server.

    Args:
        make_engine: Makes the engine that writes answers (True) or only grades them (False); it is
            called when an engine is first needed, since it may load a model.
        method: How ratings are decided on where a call does not say it.
        folders: Which files clients may name.
    """

    def __init__(
        self, make_engine: Callable[[bool], Engine], method: Method, folders: AllowedFolders
    ) -> None:
        self._make_engine = make_engine
        self._method = method
        self._folders = folders
        self._decisions = DecisionLog()
        self._engines: dict[bool, Engine] = {}
        self._lock = asyncio.Lock()

    async def ask(self, arguments: AskArguments) -> ChoiceResult:
        """Let the server's model answer a question several times, and choose among the answers."""
        engine = await self._engine(with_model=True)
        method = _changed_method(engine.method, arguments)
        outcome = await engine.ask_async(arguments.question, method=method)
        return self._choice(explained_outcome(outcome))

    async def choose(self, arguments: ChooseArguments) -> ChoiceResult:
        """Choose among given answers, by people's ratings or, without any, by the server's own."""
        if arguments.ratings:
            return self._choice(await asyncio.to_thread(self._choose_rated, arguments))
        engine = await self._engine(with_model=False)
        method = _changed_method(engine.method, arguments)
        if arguments.scale or arguments.threshold is not None:
            raise InputError("scale and threshold are about ratings", "leave them out")
        answers: Any = arguments.answers
        if arguments.names:
            answers = dict(zip(arguments.names, arguments.answers, strict=True))
        outcome = await engine.choose_async(arguments.question, answers, method=method)
        return self._choice(explained_outcome(outcome))

    async def compare(self, arguments: CompareArguments) -> ComparisonResult:
        """Say which system is best for everyone."""
        return await asyncio.to_thread(self._compare, arguments)

    async def explain(self, arguments: ExplainArguments) -> ExplanationResult:
        """Explain a decision of this server, or one of a run."""
        if arguments.decision_id:
            explained = self._decisions.get(arguments.decision_id)
        else:
            explained = await asyncio.to_thread(self._read_run, arguments)
        return explained.explanation_result(arguments.decision_id)

    async def aclose(self) -> None:
        """Close the engines."""
        for engine in self._engines.values():
            await engine.aclose()

    async def _engine(self, with_model: bool) -> Engine:
        """The engine that writes answers or only grades them."""
        async with self._lock:
            if with_model not in self._engines:
                engine = await asyncio.to_thread(self._make_engine, with_model)
                self._engines[with_model] = engine
            return self._engines[with_model]

    def _choice(self, explained: Explained) -> ChoiceResult:
        """Keep a decision for `explain`, and describe it."""
        return explained.choice(self._decisions.add(explained))

    def _choose_rated(self, arguments: ChooseArguments) -> Explained:
        """Choose by people's ratings."""
        most_ratings = max(len(row) for row in arguments.ratings)
        rows = []
        for row in arguments.ratings:
            missing = [None] * (most_ratings - len(row))
            rows.append([float("nan") if value is None else value for value in (*row, *missing)])
        names = arguments.names
        if not names:
            names = [f"answer {number}" for number in range(1, len(rows) + 1)]
        method = _changed_method(self._method, arguments)
        options = asdict(method.standards)
        if arguments.scale:
            options["scale"] = parse_scale(arguments.scale)
        if arguments.threshold is not None:
            options["threshold"] = arguments.threshold
        if method.learns:
            options["calibration"] = method.calibrations
        options = {name: value for name, value in options.items() if value is not None}
        decision = select(
            rows,
            method.rule,
            candidate_ids=names,
            beta=method.beta,
            gamma=method.gamma,
            sample="rater",
            **options,
        )
        return explained_decision(decision, arguments.answers)

    def _compare(self, arguments: CompareArguments) -> ComparisonResult:
        """Compare the systems of some ratings."""
        from darc.analysis.compare.comparison import compare_systems
        from darc.analysis.reading import load_ratings
        from darc.ratings.load import load_table

        if arguments.file:
            ratings = load_ratings(self._folders.find(arguments.file))
        else:
            ratings = load_table([_row(rating) for rating in arguments.ratings], name="ratings")
        leaderboard = compare_systems(ratings, arguments.threshold, scale=arguments.scale or None)
        return comparison_result(leaderboard)

    def _read_run(self, arguments: ExplainArguments) -> Explained:
        """Read a decision of a run."""
        from darc.runs.folder import RunFolder
        from darc.runs.manifest import method_of
        from darc.runs.outcomes import read_outcome

        folder = RunFolder(self._folders.find(arguments.run))
        return explained_outcome(read_outcome(folder, arguments.prompt_id, method_of(folder)))


def _changed_method(method: Method, arguments: MethodArguments) -> Method:
    """A method with the rule and the caution of a call."""
    if not arguments.rule and not arguments.caution:
        return method
    parameters = {}
    if arguments.caution:
        parse_caution(arguments.caution)
        parameters["caution"] = arguments.caution
    text = arguments.rule or method.text
    changed = Method.parse(text, parameters, beta=method.beta, gamma=method.gamma)
    return method.with_rule_of(changed)


def _row(rating: Any) -> dict[str, Any]:
    """A rating as a row of a table; a system has one answer per prompt."""
    row = {
        "prompt_id": rating.prompt_id,
        "candidate_id": rating.system,
        "system": rating.system,
        "rater_id": rating.rater_id or "somebody",
        "rating": rating.rating,
    }
    if rating.rater_group:
        row["rater_group"] = rating.rater_group
    return row
