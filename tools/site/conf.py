"""Sphinx's settings for the site of the documentation (`make site`); pages.py writes what it reads."""

project = "mxlite"
copyright = "the authors of mxlite"
extensions = ["myst_parser"]
html_theme = "furo"  # light, dark, or as the reader's system has it; it loads nothing from elsewhere
html_title = "mxlite"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
smartquotes = False
myst_heading_anchors = 6  # as GitHub makes them
