"""Archives made in memory."""

import io
import zipfile


def zipped(*members):
    """A compressed zip archive of names and contents; names may come twice."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()
