"""The note that the small embedded model is a toy, with better models to use instead."""

import os
import shlex
from collections.abc import Mapping

# Environment variables that hold the key of an OpenAI-compatible API, and the URL of that API.
API_URLS = {
    "OPENROUTER_API_KEY": "https://openrouter.ai/api/v1",
    "GROQ_API_KEY": "https://api.groq.com/openai/v1",
    "MISTRAL_API_KEY": "https://api.mistral.ai/v1",
    "DEEPSEEK_API_KEY": "https://api.deepseek.com/v1",
    "TOGETHER_API_KEY": "https://api.together.xyz/v1",
    "GEMINI_API_KEY": "https://generativelanguage.googleapis.com/v1beta/openai",
    "ANTHROPIC_API_KEY": "https://api.anthropic.com/v1",
}
LOCAL_SERVER = "openai:MODEL@http://localhost:11434/v1"


def toy_model_note(
    generator: str,
    command: str,
    *,
    servers_only: bool = False,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Say that the embedded model is a toy, and name what is better.

    What this machine already has (a larger model, an API key) comes first, with the command line
    that uses it.

    Args:
        generator: Where the answers come from, as --generator takes it.
        command: The beginning of the command line, such as "darc ask QUESTION".
        servers_only: Whether the command takes only servers as generators.
        environment: The environment variables; by default those of this process.

    Returns:
        Two sentences; empty if another model answers.
    """
    from darc.models.catalogue import DEFAULT
    from darc.registry import parse_spec

    spec = parse_spec(generator)
    if spec.name != "embedded" or spec.argument.lower() not in ("", DEFAULT.lower()):
        return ""
    if environment is None:
        environment = os.environ
    better_generators: dict[str, str] = {}
    if not servers_only:
        better_generators.update(_installed_generators())
    better_generators.update(_servers_with_key(environment))
    suggestions = [
        f"{command} --generator {shlex.quote(better_generator)} ({reason})"
        for better_generator, reason in better_generators.items()
    ]
    suggestions.append(
        f"a local server such as Ollama, llama.cpp or vLLM (--generator {LOCAL_SERVER}, with the "
        "server's own port)"
    )
    if not better_generators:
        suggestions.append("an API key (set OPENAI_API_KEY, then --generator openai:MODEL)")
    return (
        f"The embedded model {DEFAULT} is a toy for trying things out: its answers are often "
        f"wrong. Better: {', or '.join(suggestions)}."
    )


def _servers_with_key(environment: Mapping[str, str]) -> dict[str, str]:
    """The generators on servers that the environment has a key or a URL for, and the reason."""
    from darc.models.remote.address import BASE_URL_ENV, KEY_ENV

    reasons: dict[str, str] = {}
    # Without @URL, openai goes to OPENAI_BASE_URL, or to OpenAI where there is a key for it.
    names = [name for name in (KEY_ENV, BASE_URL_ENV) if environment.get(name)]
    if names:
        reasons["openai:MODEL"] = f"{names[0]} is set"
    for name, url in API_URLS.items():
        if environment.get(name):
            reasons[f"openai:MODEL@{url},key_env={name}"] = f"{name} is set"
    return reasons


def _installed_generators() -> dict[str, str]:
    """The generators of installed chat models that are larger than the default, and the reason."""
    import darc.parts.generators  # noqa: F401  (registers them)
    from darc.models.catalogue import CATALOGUE, DEFAULT
    from darc.models.installed import find
    from darc.registry import generators

    reasons: dict[str, str] = {}
    takes_model_names = bool(generators.get("embedded").argument)
    for model in CATALOGUE.values():
        is_chat_model = model.file_name.endswith(".gguf")
        if not is_chat_model or model.size <= CATALOGUE[DEFAULT].size:
            continue
        installed = find(model.name)
        if installed is None:
            continue
        if takes_model_names:
            generator = f"embedded:{model.name}"
        else:
            # `embedded` runs only its default model here; transformers reads the weights file.
            generator = f"transformers:{installed.path}"
        reasons[generator] = f"{model.name} is installed"
    return reasons
