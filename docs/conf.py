"""The docs site: ``make docs`` builds it into ``var/docs``; it can be searched and read without a network."""

project = "Quorate"
extensions = ["myst_parser"]
# The source folder is the repository, so that links lead to the same pages here and in a clone.
include_patterns = ["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "docs/**", "perf/**.md"]
exclude_patterns = ["docs/*.py"]
root_doc = "docs/index"
html_theme = "furo"
html_title = "Quorate"
html_favicon = "../static/icon.svg"
html_copy_source = False
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure", "myst.xref_missing"]  # tests/test_links.py checks links
