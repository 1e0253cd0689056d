"""The registry of rules."""

from collections.abc import Callable, Mapping

from darc.decide.choice import Choice
from darc.decide.rule import Calibrate, Needs, Rule, RuleInputs, RuleWording
from darc.decide.search.plans import Plan
from darc.decide.tuning_grid import Grid
from darc.registry import Registry

#: The rule that decides where nobody names one.
DEFAULT_RULE = "auto"
#: Other names that users know the rule "mean" by.
BEST_OF_K = dict.fromkeys(("best-of-k", "best-of-n", "bok", "bon"), "mean")

rules: Registry[Rule] = Registry("rule", "darc.rules", Rule, BEST_OF_K)


def rule(
    name: str,
    *,
    needs: Needs = (),
    takes: tuple[str, ...] = (),
    uses_raters: bool = False,
    min_scorers: int = 1,
    explanation: str = "the largest objective",
    alone: str = "",
    instead: Mapping[str, str] | None = None,
    weakness: str = "risk_premium",
    by_value: bool = False,
    allow_few_samples: bool = False,
    evaluated_by_default: bool = True,
    exclusive: tuple[str, ...] = (),
    aliases: Mapping[str, str] | None = None,
    plan: Plan | None = None,
    grid: Grid | None = None,
    calibrate: Calibrate | None = None,
) -> Callable[[Callable[..., Choice]], Rule]:
    """Register a function as a rule; used as a decorator.

    The function is called as `function(pools, **parameters)` and returns a `Choice`. Its
    keyword-only arguments are the parameters of the rule.

    Args:
        name: The name that users write.
        needs: Side inputs that the rule cannot do without, or a function that returns them for the
            rule's parameters.
        takes: Side inputs that it uses if they are there.
        uses_raters: Whether it uses who gave a sample.
        min_scorers: The fewest scorers that it makes sense with.
        explanation: Completes the sentence "it has ..."; formatted with parameters and facts.
        alone: Completes the sentence "it is ..." for a feasible set of one.
        instead: Texts that take the place of `explanation` where a flag is raised, by flag.
        weakness: The statistic for which a rule that depends on beta passes over a candidate with
            the largest mean and value.
        by_value: Whether the rule depends on beta.
        allow_few_samples: Whether it allows for few samples itself, so that no candidate is left
            out for having few.
        evaluated_by_default: Whether it is evaluated where no rule is named.
        exclusive: Parameters of which only one may be given.
        aliases: Other names of parameters.
        plan: Makes lazy search possible.
        grid: The settings that `darc tune` tries.
        calibrate: Called as `calibrate(pools, parameters)`; returns parameters that are fitted
            once, on the first batch.

    Returns:
        A decorator that returns the registered `Rule`.
    """

    def decorate(function: Callable[..., Choice]) -> Rule:
        new_rule = Rule(
            name,
            function,
            inputs=RuleInputs(needs, takes, uses_raters, min_scorers),
            wording=RuleWording(explanation, alone, instead or {}, weakness),
            by_value=by_value,
            allow_few_samples=allow_few_samples,
            evaluated_by_default=evaluated_by_default,
            exclusive=exclusive,
            aliases=aliases or {},
            plan=plan,
            grid=grid,
            calibrate=calibrate,
        )
        return rules.add(name, new_rule)

    return decorate
