"""Configuration of the documentation. Nothing is fetched while it is built."""

from importlib.metadata import version as installed

project = "ifair"
author = "The ifair developers"
copyright = "the ifair developers"
release = installed("ifair")
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

html_theme = "furo"
html_title = f"ifair {release}"
html_copy_source = False
html_show_sourcelink = False

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# The examples are run while the documentation is built; one that fails, or warns, fails the build.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
}

# `name` in a docstring is code, as scikit-learn writes it.
default_role = "literal"
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say more than the annotations
numpydoc_show_class_members = False  # the class template lists them
