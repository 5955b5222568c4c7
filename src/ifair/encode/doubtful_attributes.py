"""What the encoder refuses or warns of before it makes columns: text that names people, very many categories."""

from collections.abc import Collection, Sequence

import pandas as pd

from ifair.doubts import count_many_categories, find_doubt, is_called_an_id
from ifair.encode.attribute import Attribute
from ifair.errors import IfairError, name_setting, warn_user


def check_attributes(
    frame: pd.DataFrame, attributes: Sequence[Attribute], *, listed: Collection[int], lumped: bool
) -> None:
    """Refuse text that names people, and warn of what hardly describes them.

    Columns of pandas categories were declared to be categories by whoever made them, and are taken as they are, as are
    those at the positions that the user ``listed``. Where rare categories are ``lumped``, their number is the user's
    choice.
    """
    for position, attribute in enumerate(attributes):
        column, name = frame.iloc[:, position], attribute.name
        if attribute.levels or attribute.kind not in ("categorical", "numeric"):
            continue
        if attribute.kind == "numeric":
            named = is_called_an_id(name) and column.nunique() > 1
            if named and (doubt := find_doubt(column.rename(name))) and doubt.leave_out:
                warn_user(f"column {name!r} {doubt.reason}: encoded as a number; drop it if it names people")
            continue
        doubt = find_doubt(column) if attribute.holds == "text" and position not in listed else None
        if doubt is not None and doubt.names_people:
            raise IfairError(
                f"column {name!r} {doubt.reason}: it names people, and would make {column.nunique()} columns; "
                f"{doubt.advice or 'drop it'}, or encode it all the same with {name_setting('categorical', [name])}"
            )
        if doubt is not None and doubt.advice:
            warn_user(f"column {name!r} {doubt.reason}: encoded as categories; {doubt.advice}")
        elif not lumped and (many := count_many_categories(column)):
            warn_user(
                f"column {name!r} has {many} categories, which make {many} columns: kept; lump rare ones with "
                "max_categories or min_frequency, or drop it"
            )
