"""``python -m ifair``, where the command ``ifair`` is not on the path."""

from ifair.cli import main

main(prog_name="ifair")
