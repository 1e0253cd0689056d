"""Reading JSON, with errors that name the file and the line."""

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from darc.errors import TableError
from darc.files import REPAIR_HINT, open_input

# Leaves numbers as the text that they are.
_EXACT_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


def parse_json(
    text: str | bytes,
    source: str,
    line: int | None = None,
    hint: str = REPAIR_HINT,
    *,
    exact: bool = False,
) -> Any:
    """Parse JSON text.

    Args:
        text: The text.
        source: The name of the file, for errors.
        line: The line of the file, for errors.
        hint: What to do if the text cannot be used.
        exact: Whether to return numbers as text, spelled as they are.

    Returns:
        The value.

    Raises:
        TableError: If the text is not JSON, or its strings cannot be written out again.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        value = _EXACT_DECODER.decode(text) if exact else json.loads(text)
        # Half of a surrogate pair is valid JSON, but cannot be written out as UTF-8.
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except UnicodeDecodeError:
        message = "it is not UTF-8"
    except UnicodeEncodeError:
        message = "half of a surrogate pair is not text"
    except json.JSONDecodeError as problem:
        place = f"column {problem.colno}"
        if problem.lineno > 1:
            place = f"line {problem.lineno}, {place}"
        message = f"it is not valid JSON ({problem.msg} at {place})"
    except RecursionError:
        message = "it is nested too deeply"
    except ValueError:
        message = "a number in it has too many digits"
    raise TableError(source, message, hint, line)


def read_json(path: Path, hint: str = REPAIR_HINT) -> Any:
    """Read the value of a JSON file.

    Raises:
        TableError: If it cannot be read, or is not JSON.
    """
    with open_input(path, hint) as file:
        return parse_json(file.read(), str(path), hint=hint)


def json_lines(
    path: Path, hint: str = REPAIR_HINT, *, ended: bool = False
) -> Iterator[tuple[int, Any]]:
    """Read a file of JSON lines.

    Args:
        path: The file.
        hint: What to do if it cannot be used.
        ended: Whether to leave out a last line without a newline, which was never finished.

    Yields:
        The number and the value of each line that is not blank.

    Raises:
        TableError: If a line cannot be used.
    """
    with open_input(path, hint) as file:
        lines = (line for line in file if not ended or line.endswith(b"\n"))
        yield from parse_lines(lines, str(path), hint)


def parse_lines(
    lines: Iterable[bytes], source: str, hint: str = REPAIR_HINT, *, exact: bool = False
) -> Iterator[tuple[int, Any]]:
    """Parse JSON lines; the number and the value of each line that is not blank."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, parse_json(line, source, number, hint, exact=exact)


def jsonable(value: Any) -> Any:
    """A value with None in place of numbers that are not finite, which JSON does not have."""
    if isinstance(value, dict):
        return {name: jsonable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
