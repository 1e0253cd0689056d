"""`darc check`: what a server can do, and how DARC is told to use it."""

import asyncio
import itertools
import os
import re
import shlex
import sys
import textwrap
from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING

from darc.cli.output import print_json, say
from darc.cli.parser import Parser
from darc.errors import DarcError, InputError
from darc.models.remote.address import KEY_ENV

if TYPE_CHECKING:
    from darc.models.remote.server_report import ServerReport

WIDTHS = (16, 36, 44)
_SERVED = re.compile(r"@(https?://.*)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def add(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument("server", metavar="URL", help="of the server, or MODEL@URL")
    parser.add_argument("--model", default="", help="by default the first that the server lists")
    parser.add_argument(
        "--form", default="", help="of a reward model, where its path does not say; such as plain"
    )
    parser.add_argument(
        "--key-env", default=KEY_ENV, metavar="NAME", help="the environment variable with the key"
    )
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a call")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(arguments: Namespace) -> None:
    """Ask, print what was found; an error where DARC cannot use the server."""
    from darc.models.remote.address import parse_address, parse_url
    from darc.models.remote.session import import_aiohttp

    import_aiohttp()
    # A key that was given by mistake is not repeated.
    if not _NAME.fullmatch(arguments.key_env):
        raise InputError("--key-env is no name of an environment variable", "give its name")
    url, model = arguments.server.strip(), arguments.model
    if found := _SERVED.search(url):
        named, _ = parse_address(url)
        if model and model != named:
            raise InputError(f"two models: {named} and {model}", "name one")
        url, model = found[1], named
    parse_url(url)
    if not arguments.timeout > 0:
        raise InputError(f"--timeout is {arguments.timeout:g}", "give a number over 0")
    report = asyncio.run(_examine(arguments, url, model))
    commands = [] if report.problem else commands_for(report, arguments.key_env)
    if arguments.json:
        print_json({**asdict(report), "usable": not report.problem, "commands": commands})
    else:
        _print_findings(report)
        tokens = f", {report.tokens} tokens" if report.tokens else ""
        print(f"\n{report.calls} call{'s' * (report.calls != 1)}{tokens}")
        for command in commands:
            print(f"\n{command}")
    if report.problem:
        sys.stdout.flush()
        raise DarcError(f"DARC cannot use this server: {report.problem}")


async def _examine(arguments: Namespace, url: str, model: str) -> "ServerReport":
    from darc.models.remote.chat_check import check_chat
    from darc.parts.scorers.http_check import check_reward, find_reward
    from darc.parts.scorers.http_forms import form_name

    options = {"key_env": arguments.key_env, "timeout": arguments.timeout}
    say(f"trying {url}: up to 16 calls, a few tokens each ...")
    path = url.partition("?")[0]
    if arguments.form or form_name(path) != "plain":
        return await check_reward(url, model, form=arguments.form, **options)
    report = await check_chat(url, model, **options)
    if report.kind or report.status in (None, 401, 403):
        return report
    found = await find_reward(report.url, model, **options)
    if found is None:
        return report
    found.findings[:0] = [one for one in report.findings if one.what != "models"]
    found.calls += report.calls
    return found


def commands_for(report: "ServerReport", key_env: str) -> list[str]:
    """The command lines that suit the server."""
    own_key = key_env != KEY_ENV and bool(os.environ.get(key_env))
    options = {**report.options, **({"key_env": key_env} if own_key else {})}
    told = "".join(f",{name}={value}" for name, value in options.items())
    if report.kind == "reward":
        part = serving = f"--scorer {shlex.quote(f'http:{report.url}{told}')}"
    else:
        part = f"--generator {shlex.quote(f'openai:{report.model}@{report.url}{told}')}"
        serving = f"--backend {shlex.quote(report.url)} --model {shlex.quote(report.model)}"
        serving += f" --backend-key-env {key_env}" if own_key else ""
    return [
        f"darc ask 'Why is the sky blue?' {part}",
        f"darc run --prompts examples --out run {part}",
        f"darc serve {serving}",
    ]


def _print_findings(report: "ServerReport") -> None:
    """Three columns of words, wrapped."""
    rows = [("what", "result", "what it means for DARC"), tuple("-" * width for width in WIDTHS)]
    rows += [(one.what, one.result, one.meaning) for one in report.findings]
    for row in rows:
        plain = ("".join(c if c.isprintable() else " " for c in text) for text in row)
        cells = (textwrap.wrap(text, width) for text, width in zip(plain, WIDTHS, strict=True))
        for parts in itertools.zip_longest(*cells, fillvalue=""):
            padded = (f"{part:{width}}" for part, width in zip(parts, WIDTHS, strict=True))
            print("  ".join(padded).rstrip())
