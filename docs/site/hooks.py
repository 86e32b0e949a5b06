"""The hooks of mkdocs: reference pages, links out of docs/, examples as sessions, and redirects.

mkdocs.yml names this file. The pages of the reference are made with the site and stand in no folder.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File
from pymdownx.slugs import slugify

SITE = Path(__file__).parent
ROOT = SITE.parents[1]
sys.path.insert(0, str(SITE))

import reference  # noqa: E402 - it lies beside this file

#: the end of a line between two Chinese characters, which a browser would show as a space
CHINESE_LINES = re.compile(
    r"(?<=[\u2014-\u201d\u3000-\u9fff\uff00-\uffef])\n(?=[\u201c\u3000-\u9fff\uff00-\uffef])"
)
#: pages that a search shows after the pages for users
FOR_DEVELOPERS = (
    "architecture", "contributing", "decisions/", "eager_engine", "glossary", "howto/add_operator",
    "howto/add_rewrite", "howto/add_transform", "release_notes", "scale_cost", "style", "first_call",
)  # fmt: skip
#: pages of the site that are documents of the repository's root
ROOT_DOCUMENTS = {
    "release_notes.md": "CHANGELOG.md",
    "security.md": "SECURITY.md",
    "contributing.md": "CONTRIBUTING.md",
}
#: the longest description of a page in the results of a search engine
LONGEST_DESCRIPTION = 160
#: a page at an old address: it leads to the new one, and keeps the anchor if the browser runs scripts
REDIRECT = """<!doctype html>
<html>
<head>
<meta charset="utf-8">
<title>This page has moved</title>
<link rel="canonical" href="{target}">
<meta name="robots" content="noindex">
<script>location.replace("{target}" + location.hash)</script>
<meta http-equiv="refresh" content="0; url={target}">
</head>
<body>This page has moved: <a href="{target}">{target}</a></body>
</html>
"""
LINK = re.compile(r"(\]\()(?!https?://|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_startup(**_: Any) -> None:
    """Make the folder of signatures: mkdocstrings leaves out a folder that is missing when it is configured.

    mkdocstrings is configured before :func:`on_config` runs. Without the folder, it would read the source of
    the package instead, where it does not find names that tables and decorators define.
    """
    signatures().mkdir(parents=True, exist_ok=True)


def signatures() -> Path:
    """The folder of signatures, which mkdocs.yml names too."""
    return ROOT / "build" / "reference"


def on_config(config: Any) -> Any:
    """Write the package of signatures, and enter the reference into the navigation."""
    pages = reference.references()
    reference.stubs(pages, signatures())
    enter_decisions(config.nav)
    for language in config.plugins["i18n"].config.languages:
        enter_decisions(language.nav or [])
    sections = {name: entries for section in config.nav for name, entries in section.items()}
    sections["Reference"] += [
        {"Release notes": "release_notes.md"},
        {"Security": "security.md"},
        *groups(pages),
    ]
    sections["Develop"].insert(0, {"Contributing": "contributing.md"})
    config.edit_uri = "edit/main/docs/" if config.repo_url else None
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")  # headings in Chinese have anchors too
    config.extra["reference"] = {f"reference/{page.file}.md": reference.text_of(page) for page in pages}
    config.extra["reference"] |= {page: root_document(name) for page, name in ROOT_DOCUMENTS.items()}
    return config


def enter_decisions(nav: list[dict[str, Any]]) -> None:
    """Enter docs/decisions/*.md into a navigation."""
    inside = next((next(iter(section.values())) for section in nav if "architecture.md" in str(section)), [])
    for entry in inside:
        if isinstance(entry, dict) and "Decisions" in entry:
            files = sorted(
                (ROOT / "docs" / "decisions").glob("*.md"), key=lambda path: (path.name != "index.md", path)
            )
            entry["Decisions"] = [f"decisions/{path.name}" for path in files]


def root_document(name: str) -> str:
    """The text of a document of the root, whose links start from docs/."""

    def target(match: re.Match[str]) -> str:
        path = match[2].removeprefix("docs/") if match[2].startswith("docs/") else f"../{match[2]}"
        return f"{match[1]}{path}{match[3] or ''})"

    return outside_code((ROOT / name).read_text(encoding="utf8"), target)


def outside_code(text: str, target: Callable[[re.Match[str]], str]) -> str:
    """Replace the links of a text, but not those in code."""
    parts = re.split(r"(```.*?```|`[^`\n]*`)", text, flags=re.S)
    return "".join(part if part.startswith("`") else LINK.sub(target, part) for part in parts)


def groups(pages: list[reference.Reference]) -> list[dict[str, Any]]:
    """The navigation of the reference: a group for each public module."""
    sections: dict[str, list[dict[str, str]]] = {}
    for page in pages:
        top = ".".join(page.module.split(".")[:2])
        sections.setdefault(top, []).append({page.title: f"reference/{page.file}.md"})
    return [{name: entries} for name, entries in sections.items()]


@event_priority(-100)  # behind the plugin of languages, which knows files on disk only
def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the reference, which are in one language, to the files of the site."""
    if config.plugins["i18n"].current_language != "en":
        return files
    for path, text in config.extra["reference"].items():
        if files.get_file_from_path(path) is None:
            files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Send links to files outside of docs/ to the repository, and mark doctests as sessions."""
    if page.file.src_uri.startswith(FOR_DEVELOPERS):
        page.meta.setdefault("search", {"boost": 0.2})
    if page.file.src_uri.endswith(".zh.md"):
        markdown = CHINESE_LINES.sub("", markdown)
    if text := description(markdown):
        page.meta.setdefault("description", text)
    markdown = re.sub(r"^```python\n(?=>>>)", "```pycon\n", markdown, flags=re.M)
    folder = posixpath.dirname(page.file.src_uri)

    def target(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", folder, match[2]))
        is_page = path.startswith("docs/") and files.get_file_from_path(path.removeprefix("docs/"))
        if is_page or not (ROOT / path).exists():
            return match[0]
        if not config.repo_url:
            return "]"
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{match[1]}{config.repo_url}/{kind}/main/{path}{match[3] or ''})"

    return outside_code(markdown, target)


def description(markdown: str) -> str:
    """The first paragraph after the title, as plain text; search engines show it."""
    found = re.match(r"\s*# [^\n]*\n\n(?!```|- |[#|>!<])(.*?)(?:\n\n|\Z)", markdown, re.S)
    if found is None:
        return ""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found[1])
    text = " ".join(re.sub(r"[`*]", "", text).split())
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    start = text[: LONGEST_DESCRIPTION - 2]
    return (start.rpartition(" ")[0] or start) + " …"


def on_post_build(config: Any) -> None:
    """Write the redirects of mkdocs.yml, for each language."""
    site = Path(config.site_dir)
    for language in ("", "zh"):
        for old, new in config.extra["redirects"].items():
            redirect(site / language, old, new)


def redirect(folder: Path, old: str, new: str) -> None:
    """Write a page at the address of ``old`` that leads to ``new``; both are Markdown files of docs/."""
    start, end = old.removesuffix(".md"), new.removesuffix(".md")
    file = folder / start / "index.html"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(REDIRECT.format(target=posixpath.relpath(end, start) + "/"), encoding="utf8")
