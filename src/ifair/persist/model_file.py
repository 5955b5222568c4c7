"""Model files: a zip of ``manifest.json`` and ``model.skops``, written whole and read with suspicion."""

import hashlib
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ifair.errors import ModelFileError, ModelFileWarning, name_setting, require_extra, warn_user
from ifair.files import check_regular, write_whole
from ifair.persist.archive import pack, unpack
from ifair.persist.manifest import read_manifest, write_manifest
from ifair.persist.schema import describe, list_types, read_schema
from ifair.persist.trust import check_fitted, check_savable, find_unvetted

# Most bytes a model may unpack to, unless the caller says otherwise.
MAX_BYTES = 2**30
MANIFEST, PAYLOAD = "manifest.json", "model.skops"


def save(model: Any, path: str | Path, *, about: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model to a file that holds data only: no pickle, no code.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library or of scikit-learn, or a Pipeline of them. Functions among its parameters
        (a `callback`, a callable `protected`) are refused before anything is written.
    path : str or Path
        By convention ending in ``.ifair``. An existing file is replaced whole, or on failure left as it was.
    about : mapping, optional
        Plain JSON data to keep with the model, such as the roles of columns; `inspect` returns it.

    Notes
    -----
    What `set_fit_request` noted for scikit-learn's metadata routing matters to fitting only and is not kept.

    Warns
    -----
    ModelFileWarning
        If `load` will have to be told to trust a type, such as the trees of a random forest.

    Examples
    --------
    >>> import tempfile, numpy as np, ifair
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = ifair.IFair(3, protected=[2], random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ifair.save(model, f"{folder}/model.ifair", about={"purpose": "an example"})
    ...     again = ifair.load(f"{folder}/model.ifair")
    ...     facts = ifair.inspect(f"{folder}/model.ifair")
    >>> bool((again.transform(X) == model.transform(X)).all()), facts["about"]
    (True, {'purpose': 'an example'})
    """
    from ifair.persist.boosted_trees import TREE, explain_unsafe_trees

    path = Path(path)
    with _name_file(path):
        check_savable(model)
        if hasattr(model, "fit"):
            check_fitted(model, ModelFileError, "saving")
        skops = _import_skops()
        try:
            payload: bytes = skops.dumps(_drop_requests(model), compression=zipfile.ZIP_DEFLATED)
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ModelFileError(f"this {type(model).__name__} cannot be saved: {error}") from error
        untrusted = find_unvetted(skops.get_untrusted_types(data=payload), ())
        if TREE in untrusted and explain_unsafe_trees(model) is None:
            untrusted.remove(TREE)
        types = list_types(read_schema(unpack(payload, 2**63)))
        manifest = write_manifest(payload, about or {}, types, untrusted)
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder {path.parent} does not exist; create it first")
    write_whole(path, pack({MANIFEST: manifest, PAYLOAD: payload}), kind="model")
    if untrusted:
        warn_user(
            f"{path}: the model holds types that are not known to be safe; whoever loads it must vouch for them with "
            f"{name_setting('trusted', untrusted)}",
            ModelFileWarning,
        )


def load(path: str | Path, *, trusted: Iterable[str | type] = (), max_bytes: int = MAX_BYTES) -> Any:
    """Read a model that `save` wrote.

    Everything is checked before the first object is made: the form of the archive, its sizes, its checksum, its
    version, and the types that it names. Types outside the list of those that are only data are refused without being
    imported. The nodes of boosted trees are checked once they are rebuilt, before anything follows them. The checksum
    finds damage, not forgery: whoever may replace the file may replace its checksum too.

    Parameters
    ----------
    path : str or Path
    trusted : iterable of str or type, optional
        Further types that may be loaded, by full name. Name only what you know: making an object of a type may run its
        code.
    max_bytes : int, default=2**30
        Most bytes that the model may unpack to.

    Returns
    -------
    estimator

    Raises
    ------
    ModelFileError
        If the file is not a model file, or was damaged, altered, or written by a later version.

    Warns
    -----
    ModelFileWarning
        If another version of scikit-learn wrote the file.
    """
    path = Path(path)
    with _name_file(path):
        fields, members = _read_file(path, max_bytes)
        types = list_types(read_schema(members))
        if types != set(fields["types"]):
            raise ModelFileError("its manifest lists other types than it holds; the file was altered: save it anew")
        # What skops gets is packed anew from members that were checked.
        model = _rebuild(pack(members), trusted, types)
        if not hasattr(model, "get_params"):
            raise ModelFileError(f"it holds a {type(model).__name__} and no estimator; ifair writes no such files")
    _warn_of_versions(path, fields["packages"])
    return model


def inspect(path: str | Path, *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """What a model file says about itself; no model is made and nothing that the file names is imported.

    Parameters
    ----------
    path : str or Path
    max_bytes : int, default=2**30

    Returns
    -------
    dict
        ``format``, ``ifair`` (the version that wrote it), ``packages`` (other versions), ``created``, ``sha256``,
        ``about``, ``types``, ``trust_needed`` (types for which `load` needs `trusted`, in the writer's words), and
        ``steps``: a list with ``name``, ``type`` and ``parameters`` of every step of the pipeline, or of the one
        estimator.
    """
    path = Path(path)
    with _name_file(path):
        fields, members = _read_file(path, max_bytes)
        root = read_schema(members)
        try:
            found = describe(root, members)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ModelFileError("its schema cannot be read; the file was altered: save the model anew") from error
    steps = found.get("steps", [{"name": found["type"].rpartition(".")[2], **found}])
    facts = {field: value for field, value in fields.items() if field not in ("kind", "types")}
    return {**facts, "types": sorted(list_types(root)), "steps": steps}


def _read_file(path: Path, max_bytes: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest, and the members of the payload, as far as they can be checked without looking into objects."""
    if path.exists():
        check_regular(path)
    if path.stat().st_size > max_bytes:
        raise ModelFileError(
            f"it has {path.stat().st_size:,} bytes, more than the {max_bytes:,} allowed; if you trust it, pass a "
            "larger max_bytes"
        )
    data = path.read_bytes()
    if not data.startswith(b"PK\x03\x04"):
        kind = "a pickle, which may run any code when loaded" if data.startswith(b"\x80") else "something else"
        raise ModelFileError(f"this is not a model file but {kind}; models are written by ifair.save and `ifair fit`")
    outer = unpack(data, max_bytes)
    if MANIFEST not in outer:
        raise ModelFileError(f"it has no {MANIFEST}, so ifair.save did not write it; save the model with ifair.save")
    fields = read_manifest(outer[MANIFEST])
    if PAYLOAD not in outer:
        raise ModelFileError(f"it has no {PAYLOAD}; the file was altered: save the model anew")
    if unexpected := sorted(outer.keys() - {MANIFEST, PAYLOAD}):
        raise ModelFileError(f"it holds {unexpected[0]!r}, which does not belong there: do not use it")
    if hashlib.sha256(outer[PAYLOAD]).hexdigest() != fields["sha256"]:
        raise ModelFileError(
            "its model.skops does not have the checksum in the manifest; the file was altered or damaged: get a fresh "
            "copy, or save the model anew"
        )
    return fields, _unpack_payload(outer[PAYLOAD], max_bytes)


def _unpack_payload(payload: bytes, max_bytes: int) -> dict[str, bytes]:
    members = unpack(payload, max_bytes)
    room = max_bytes - sum(map(len, members.values()))
    for name, content in members.items():
        if name.endswith(".npz"):  # a sparse matrix: an archive again
            inner = unpack(content, room)
            room -= sum(map(len, inner.values()))
            members[name] = pack(inner)
        elif name != "schema.json" and not name.endswith((".npy", ".bin")):
            raise ModelFileError(f"its model.skops holds {name!r}, which does not belong there: do not use it")
    return members


@contextmanager
def _name_file(path: Path) -> Iterator[None]:
    """Put the name of the file in front of what went wrong."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error.__cause__


def _import_skops() -> Any:
    require_extra("saving and loading models", ["skops"], "persist")
    import skops.io

    return skops.io


def _drop_requests(model: Any) -> Any:
    """The same model without what metadata routing noted: it is for fitting only, and refers back to the model."""
    from sklearn.pipeline import Pipeline

    if not hasattr(model, "get_params"):  # "passthrough"
        return model
    bare = copy(model)
    vars(bare).pop("_metadata_request", None)
    if isinstance(bare, Pipeline):
        bare.steps = [(name, _drop_requests(step)) for name, step in bare.steps]
    return bare


def _rebuild(payload: bytes, trusted: Iterable[str | type], types: set[str]) -> Any:
    skops = _import_skops()
    from ifair.persist.boosted_trees import TREE, explain_unsafe_trees

    try:
        untrusted = skops.get_untrusted_types(data=payload)
    except Exception as error:
        raise ModelFileError(f"its objects cannot be read ({error}); the file was altered: save it anew") from error
    unknown = find_unvetted([*untrusted, *types & {TREE}], trusted)  # trees are checked even where skops trusts them
    if unknown not in ([], [TREE]):
        raise ModelFileError(
            f"it holds types that are not known to be safe: {', '.join(unknown)}. Nothing of them was loaded. If you "
            f"know who wrote the file and what these are, load it with {name_setting('trusted', unknown)}"
        )
    try:
        with warnings.catch_warnings(record=True):  # of versions: told once, by us
            warnings.simplefilter("always")
            model = skops.loads(payload, trusted=untrusted)
    except ImportError as error:
        raise ModelFileError(f"it needs a package that is not installed ({error}): install it") from error
    except Exception as error:
        raise ModelFileError(
            f"its objects cannot be rebuilt ({type(error).__name__}: {error}); the file was altered, or written with "
            "versions that do not fit those installed: see ifair.inspect"
        ) from error
    if TREE in unknown and (doubt := explain_unsafe_trees(model)):
        raise ModelFileError(
            f"it holds boosted trees that are not known to be safe: {doubt}. If you know who wrote the file, load it "
            f"with {name_setting('trusted', [TREE])}"
        )
    return model


def _warn_of_versions(path: Path, packages: Mapping[str, Any]) -> None:
    wrote, reads = str(packages.get("scikit-learn")), version("scikit-learn")
    if wrote.split(".")[:2] != reads.split(".")[:2]:
        warn_user(
            f"{path}: written with scikit-learn {wrote}, read with {reads}; compare some predictions before relying on "
            "it, and save the model anew",
            ModelFileWarning,
        )
