"""The recommended setting as a file that every command takes."""

import json
from collections.abc import Mapping

from darc.evaluation.tuning.setting import Setting
from darc.evaluation.tuning.tune import Tuned


def settings_toml(tuned: Tuned, setting: Setting, commands: Mapping[str, bool]) -> str:
    """TOML with one section a command; `commands` says of each whether it takes several rules."""
    lines = [
        f"# Chosen by darc tune on {_plain(tuned.name)} by {tuned.objective.words}; beta, epsilon",
        "# and other absolute strengths are in the units of its scores.",
    ]
    text = json.dumps(setting.text)
    for name, several in sorted(commands.items()):
        lines += ["", f"[{name}]", f"rule = {f'[{text}]' if several else text}"]
    return "\n".join(lines) + "\n"


def _plain(name: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in name)
