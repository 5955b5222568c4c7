"""What the user did wrong, as a message and an exit code: 1 for data and models, 2 for usage."""

import sys
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

import click


def clear_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Show errors of data and of model files as a message, and exit with 1."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        from ifair.data.errors import DataError

        try:
            command(*args, **kwargs)
        except DataError as error:
            raise click.ClickException(str(error)) from error
        except FileNotFoundError as error:
            raise click.ClickException(_no_file(error)) from error
        except (ValueError, ImportError) as error:
            # A model file can only have gone wrong once the package that reads it is there.
            persist = sys.modules.get("ifair.persist")
            of_model = persist is not None and isinstance(error, persist.ModelFileError)
            if not of_model and "pip install 'ifair[" not in str(error):
                raise
            raise click.ClickException(str(error)) from error

    return wrapped


def _no_file(error: FileNotFoundError) -> str:
    from ifair.data.errors import nearest

    if not error.filename:
        return str(error)
    path = Path(error.filename)
    beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    return f"there is no file {path}{nearest(path.name, beside)}"


def warn(lines: Iterable[str]) -> None:
    """Say on standard error what the user should know."""
    for line in lines:
        click.echo(f"Warning: {line}", err=True)
