"""``ifair export``: a model for production that needs no Python."""

from pathlib import Path
from typing import Any

import click

from ifair.cli.extras import needs
from ifair.cli.output import (
    INPUT,
    OUTPUT,
    echo_json,
    explain_write_errors,
    force_option,
    json_option,
    prepare_output,
    trusted_option,
)
from ifair.cli.terminal_text import make_printable
from ifair.files import write_whole


@click.command(short_help="Write a model as ONNX.")
@click.argument("model", type=INPUT)
@click.option("--onnx", type=OUTPUT, required=True, metavar="FILE", help="The ONNX file to write.")
@click.option(
    "--precision", type=click.Choice(["single", "double"]), default="single", help="Numbers of 32 or of 64 bits."
)
@trusted_option
@force_option
@json_option("what was written as JSON, for scripts")
def export(model: Path, onnx: Path, precision: str, trusted: tuple[str, ...], as_json: bool) -> None:
    """Write MODEL as ONNX, to be run by onnxruntime in any language.

    \b
    ifair export model.ifair --onnx model.onnx
    ifair export model.ifair --onnx model.onnx --precision double
    ifair export model.ifair --onnx model.onnx --json | jq '.inputs[] | {name, column}'
    """
    needs("a model file", "skops")
    needs("ONNX", "skl2onnx", "onnx")
    prepare_output(onnx, "onnx")

    from ifair.cli.saved_model import load_model
    from ifair.persist import to_onnx

    fitted = load_model(model, trusted)
    click.echo(f"{make_printable(model.name)}: converting ...", err=True)
    content = to_onnx(fitted, precision=precision)
    with explain_write_errors(onnx):
        write_whole(onnx, content.SerializeToString(), kind="onnx")
    if as_json:
        echo_json(_describe_graph(onnx, precision, content))
    else:
        click.echo(f"{onnx.stat().st_size:,} bytes: {onnx}")


def _describe_graph(path: Path, precision: str, content: Any) -> dict[str, Any]:
    """What a program that runs the model must know: its inputs, with the column that each stands for, and outputs."""
    from onnx import TensorProto

    from ifair.persist import onnx_inputs

    # One input of all numbers stands for no column of its own.
    columns = onnx_inputs(content)
    ports = {}
    for key, values in (("inputs", content.graph.input), ("outputs", content.graph.output)):
        kinds = [TensorProto.DataType.Name(value.type.tensor_type.elem_type).lower() for value in values]
        ports[key] = [{"name": value.name, "type": kind} for value, kind in zip(values, kinds)]
    ports["inputs"] = [
        {**port, "column": columns[port["name"]]} if port["name"] in columns else port for port in ports["inputs"]
    ]
    return {"output": str(path), "bytes": path.stat().st_size, "precision": precision, **ports}
