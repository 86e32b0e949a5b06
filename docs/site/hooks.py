"""The hooks of mkdocs: reference pages, links out of docs/, and examples as sessions.

mkdocs.yml names this file. The pages of the reference are made while the site is built and stand in no folder.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

SITE = Path(__file__).parent
ROOT = SITE.parents[1]
sys.path.insert(0, str(SITE))

import reference  # noqa: E402 - it lies beside this file

LINK = re.compile(r"(\]\()(?!https?://|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
#: pages that have no second language, and stand in the site once
ONCE = ("reference/", "decisions/")


def on_config(config: Any) -> Any:
    """Write the package of signatures, and enter the reference into the navigation."""
    pages = reference.references()
    reference.stubs(pages, ROOT / "build" / "reference")
    for entry in config.nav:
        if "Reference" in entry:
            entry["Reference"] += groups(pages)
    config.extra["reference"] = {f"reference/{page.file}.md": reference.text_of(page) for page in pages}
    return config


def groups(pages: list[reference.Reference]) -> list[dict[str, Any]]:
    """The navigation of the reference: a group for each public module."""
    sections: dict[str, list[dict[str, str]]] = {}
    for page in pages:
        top = ".".join(page.module.split(".")[:2])
        sections.setdefault(top, []).append({page.title: f"reference/{page.file}.md"})
    return [{name: entries} for name, entries in sections.items()]


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the reference to the files of the site."""
    for path, text in config.extra["reference"].items():
        if files.get_file_from_path(path) is None:
            files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Send links to files outside of docs/ to the repository, and mark doctests as sessions."""
    markdown = re.sub(r"^```python\n(?=>>>)", "```pycon\n", markdown, flags=re.M)
    folder = posixpath.dirname(page.file.src_uri)

    def target(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", folder, match[2]))
        is_page = path.startswith("docs/") and files.get_file_from_path(path.removeprefix("docs/"))
        if is_page or not (ROOT / path).exists():
            return match[0]
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{match[1]}{config.repo_url}/{kind}/main/{path}{match[3] or ''})"

    parts = re.split(r"(```.*?```|`[^`\n]*`)", markdown, flags=re.S)
    return "".join(part if part.startswith("`") else LINK.sub(target, part) for part in parts)
