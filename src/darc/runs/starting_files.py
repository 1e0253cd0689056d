"""The files that a new user begins with: a configuration, a panel, prompts and a page."""

import json
import tomllib
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from darc.json_files import json_lines
from darc.models.remote.address import parse_address
from darc.parts.scorers.panel import SHIPPED_PANEL
from darc.parts.scorers.panel_settings import PanelSettings
from darc.registry import Spec, parse_spec
from darc.settings.commented_toml import comment, commented_section, toml_value
from darc.settings.run import RunCommandSettings
from darc.settings.sampling import PanelSettings as PanelOptions

RUN_FILE = "run.toml"
PANEL_FILE = "panel.toml"
PROMPT_FILE = "prompts.jsonl"
PAGE_FILE = "README.md"
OUT_FOLDER = "answers"
_PROMPTS = 4
_RATERS = 4
# The options of a run that a panel's file has under other names.
_RUN_NAMES = {"mode": "panel_mode", "waves": "panel_waves"}
# What only makes sense on a command line.
_NOT_IN_FILES = ("config", "restart", "complete")


def starting_files(generator: str) -> dict[str, str]:
    """The files of a first run.

    Args:
        generator: What writes the answers, as --generator takes it.

    Returns:
        The texts by the names of the files.
    """
    spec = parse_spec(generator)
    prompts = _example_prompts()
    return {
        RUN_FILE: _run_file(generator, with_panel=spec.name == "openai"),
        PANEL_FILE: _panel_file(),
        PROMPT_FILE: "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in prompts),
        PAGE_FILE: _page(spec, str(prompts[0]["id"])),
    }


def _run_file(generator: str, with_panel: bool) -> str:
    """The settings of the run, with all options."""
    values: dict[str, Any] = {
        "prompts": PROMPT_FILE,
        "out": OUT_FOLDER,
        "generator": generator,
    }
    if with_panel:
        values["panel"] = [PANEL_FILE]
    head = [
        *comment(f"Settings of `darc run --config {RUN_FILE}`, run in this folder."),
        *comment("Lines that begin with #NAME are defaults: take the # away to change one."),
        "",
    ]
    section = commented_section(RunCommandSettings, "run", values, _NOT_IN_FILES)
    return "\n".join(head) + section


def _panel_file() -> str:
    """A panel of the first raters that ship with DARC."""
    panel = tomllib.loads(SHIPPED_PANEL.read_text(encoding="utf-8"))
    lines = comment(
        f"The raters of a panel; {RUN_FILE} names this file where a model on a server can play "
        "them. Change their views, or add your own: who reads the answers, what they need, what "
        "bothers them."
    )
    for name, field in PanelSettings.model_fields.items():
        if name == "rater":
            continue
        run_field = PanelOptions.model_fields.get(_RUN_NAMES.get(name, name))
        text = "the judge of raters that name none, judge:MODEL@URL; empty for the model itself"
        if run_field is not None:
            text = run_field.description or ""
        lines += ["", *comment(text), f"#{name} = {toml_value(field.default)}"]
    for rater in panel["rater"][:_RATERS]:
        lines += ["", "[[rater]]", f"name = {toml_value(rater['name'])}"]
        lines.append(f"view = {toml_value(rater['view'].strip())}")
    return "\n".join([*lines, ""])


def _example_prompts() -> list[Mapping[str, Any]]:
    """The first of the prompts that come with DARC, of one turn."""
    with as_file(files("darc.runs") / "prompts.jsonl") as path:
        rows = [row for _, row in json_lines(path)]
    return [row for row in rows if "prompt" in row][:_PROMPTS]


def _page(spec: Spec, prompt_id: str) -> str:
    """What to do with the files."""
    first = "darc models install"
    about = "downloads the small embedded model that answers here; it is a toy"
    if spec.name == "embedded" and spec.argument:
        first = f"darc models install {spec.argument}"
        about = "downloads the embedded model that answers here"
    elif spec.name == "openai":
        model, url = parse_address(spec.argument)
        first = f"darc check {model}@{url}"
        about = "says what the server that answers can do"
    elif spec.name != "embedded":
        first = "darc generators"
        about = "lists what can write answers, with their options"
    return f"""# A first run

Three commands, in this folder:

```sh
{first}
darc run --config {RUN_FILE}
darc show {OUT_FOLDER} {prompt_id}
```

- `{first}` {about}.
- `darc run` answers the prompts of `{PROMPT_FILE}` and writes everything to `{OUT_FOLDER}`. Run it
  again to continue.
- `darc show` explains how one prompt was decided.

| file | what it is |
|---|---|
| `{RUN_FILE}` | the settings, each with its default and what it does |
| `{PANEL_FILE}` | readers with different points of view, played by a model on a server |
| `{PROMPT_FILE}` | example prompts, one JSON object per line; put your own here |
"""


def existing_files(folder: Path, names: Mapping[str, str]) -> list[Path]:
    """The files of these names that are in a folder already."""
    paths = [folder / name for name in names]
    return [path for path in paths if path.exists() or path.is_symlink()]
