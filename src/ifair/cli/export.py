"""``ifair export``: a model for production that needs no Python."""

from pathlib import Path

import click

from ifair.cli.files import can_write


@click.command(short_help="Write a model as ONNX.")
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--onnx",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE",
    help="The ONNX file to write.",
)
@click.option(
    "--precision",
    type=click.Choice(["single", "double"]),
    default="single",
    show_default=True,
    help="Numbers of 32 or of 64 bits.",
)
def export(model: Path, onnx: Path, precision: str) -> None:
    """Write MODEL as ONNX, to be run by onnxruntime in any language.

    \b
    ifair export model.ifair --onnx model.onnx
    ifair export model.ifair --onnx model.onnx --precision double
    """
    can_write(onnx)

    import ifair
    from ifair.files import write_whole
    from ifair.persist import to_onnx

    fitted = ifair.load(model)
    try:
        content = to_onnx(fitted, precision=precision)
    except (ImportError, NotImplementedError, TypeError, ValueError) as error:
        # A package that is missing, or a step or option that has no ONNX form.
        raise click.ClickException(str(error)) from error
    try:
        write_whole(onnx, content if isinstance(content, bytes) else content.SerializeToString())
    except OSError as error:
        raise click.ClickException(f"cannot write {onnx}: {error.strerror}") from error
    click.echo(f"{onnx.stat().st_size:,} bytes: {onnx}")
