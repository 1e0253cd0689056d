"""`darc init`: a folder to begin with."""

from darc.cli.commands import Command
from darc.cli.first_model import find_model
from darc.cli.output import say
from darc.errors import InputError
from darc.settings.init import InitSettings


def run(settings: InitSettings) -> None:
    """Write the files, all of them or none."""
    from darc.files import atomic_writer
    from darc.runs.starting_files import PAGE_FILE, existing_files, starting_files

    folder = settings.folder
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file", "name a folder")
    generator = settings.generator
    if "generator" not in settings.model_fields_set:
        generator = find_model(settings, "--generator", may_ask=False).generator
    files = starting_files(generator)
    existing = existing_files(folder, files)
    if existing and not settings.force:
        names = ", ".join(str(path) for path in existing)
        raise InputError(f"already there: {names}", "name another folder, or give --force")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        with atomic_writer(folder / name) as file:
            file.write(text)
        print(folder / name)
    say(f"begin with {folder / PAGE_FILE}: it has the three commands of a first run")


COMMAND = Command(InitSettings, run)
