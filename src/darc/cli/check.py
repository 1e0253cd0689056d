"""`darc check`: what a server can do, and how DARC is told to use it."""

import asyncio
import itertools
import os
import re
import shlex
import sys
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING

from darc.cli.commands import Command
from darc.cli.output import print_json, say
from darc.errors import DarcError, InputError
from darc.models.remote.address import KEY_ENV
from darc.settings.check import CheckSettings

if TYPE_CHECKING:
    from darc.models.remote.server_report import ServerReport

# The widths of the columns of the printed table.
WIDTHS = (16, 36, 44)
# What a server says that does not answer, or wants a key.
_NO_ACCESS = (None, 401, 403)
_MODEL_AT_URL = re.compile(r"@(https?://.*)", re.IGNORECASE)
_VARIABLE_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def run(settings: CheckSettings) -> None:
    """Try the server, and print what was found; fail if DARC cannot use it."""
    from darc.models.remote.address import parse_url
    from darc.models.remote.session import import_aiohttp

    import_aiohttp()
    # A key that was given by mistake is not repeated.
    if not _VARIABLE_NAME.fullmatch(settings.key_env):
        raise InputError("--key-env is not the name of an environment variable", "give its name")
    url, model = _address(settings)
    parse_url(url)
    report = asyncio.run(_examine(settings, url, model))
    commands: list[str] = []
    if not report.problem:
        commands = commands_for(report, settings.key_env)
    if settings.as_json:
        print_json({**asdict(report), "usable": not report.problem, "commands": commands})
    else:
        _print_report(report, commands)
    if report.problem:
        sys.stdout.flush()
        raise DarcError(f"DARC cannot use this server: {report.problem}")


def _address(settings: CheckSettings) -> tuple[str, str]:
    """The URL of the server and the name of the model, which may be empty."""
    from darc.models.remote.address import parse_address

    text = settings.server.strip()
    match = _MODEL_AT_URL.search(text)
    if match is None:
        return text, settings.model
    model, _ = parse_address(text)
    if settings.model and settings.model != model:
        raise InputError(f"two models: {model} and {settings.model}", "name one")
    return match[1], model


async def _examine(settings: CheckSettings, url: str, model: str) -> "ServerReport":
    """Try the server as a reward model or as a chat server, or as one and then the other."""
    from darc.models.remote.chat_check import check_chat
    from darc.parts.scorers.http_check import check_reward, find_reward
    from darc.parts.scorers.http_forms import form_name

    say(f"trying {url}: up to 16 calls, a few tokens each ...")
    key_env = settings.key_env
    timeout = settings.timeout
    path = url.partition("?")[0]
    if settings.reward_form or form_name(path) != "plain":
        form = settings.reward_form
        return await check_reward(url, model, form=form, key_env=key_env, timeout=timeout)
    report = await check_chat(url, model, key_env=key_env, timeout=timeout)
    if report.kind or report.status in _NO_ACCESS:
        return report
    reward_report = await find_reward(report.url, model, key_env=key_env, timeout=timeout)
    if reward_report is None:
        return report
    reward_report.findings[:0] = [one for one in report.findings if one.what != "models"]
    reward_report.calls += report.calls
    return reward_report


def commands_for(report: "ServerReport", key_env: str) -> list[str]:
    """The command lines that suit the server."""
    uses_key = key_env != KEY_ENV and bool(os.environ.get(key_env))
    options = dict(report.options)
    if uses_key:
        options["key_env"] = key_env
    suffix = "".join(f",{name}={value}" for name, value in options.items())
    if report.kind == "reward":
        part = f"--scorer {shlex.quote(f'http:{report.url}{suffix}')}"
        backend = part
    else:
        part = f"--generator {shlex.quote(f'openai:{report.model}@{report.url}{suffix}')}"
        backend = f"--backend {shlex.quote(report.url)} --model {shlex.quote(report.model)}"
        if uses_key:
            backend += f" --backend-key-env {key_env}"
    return [
        f"darc ask 'Why is the sky blue?' {part}",
        f"darc run --prompts examples --out run {part}",
        f"darc serve {backend}",
    ]


def _print_report(report: "ServerReport", commands: list[str]) -> None:
    """Print what was found, what it took, and the commands that suit the server."""
    _print_row(("what", "result", "what it means for DARC"))
    _print_row(tuple("-" * width for width in WIDTHS))
    for finding in report.findings:
        _print_row((finding.what, finding.result, finding.meaning))
    cost = f"{report.calls} calls"
    if report.calls == 1:
        cost = "1 call"
    if report.tokens:
        cost += f", {report.tokens} tokens"
    print(f"\n{cost}")
    for command in commands:
        print(f"\n{command}")


def _print_row(texts: tuple[str, ...]) -> None:
    """Print one row of the table, its texts wrapped."""
    columns = []
    for text, width in zip(texts, WIDTHS, strict=True):
        columns.append(textwrap.wrap(_printable(text), width))
    for parts in itertools.zip_longest(*columns, fillvalue=""):
        cells = [f"{part:{width}}" for part, width in zip(parts, WIDTHS, strict=True)]
        print("  ".join(cells).rstrip())


def _printable(text: str) -> str:
    """A text that a server sent, with spaces in place of control characters."""
    characters = []
    for character in text:
        if character.isprintable():
            characters.append(character)
        else:
            characters.append(" ")
    return "".join(characters)


COMMAND = Command(CheckSettings, run)
