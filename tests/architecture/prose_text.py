"""Passages of English in the files of the project: pages, docstrings, comments and messages.

``tests/architecture/prose.py`` searches the passages for the patterns of ``docs/style.md``. Code inside a passage is
masked with characters that are not letters, so that a pattern matches English only.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
KINDS = ("pages", "decisions", "docstrings", "comments", "messages")
#: pages that programs write: their tables are data
GENERATED = {"docs/accuracy.md", "docs/conventions.md", "docs/coverage.md", "docs/speed.md"}
#: the guide quotes the sentences that it forbids
GUIDE = "docs/style.md"

_CODE = re.compile(
    r"``.+?``|`[^`]+`"  # inline code
    r"|\$[^$\n]+\$"  # formulas
    r"|https?://\S+|<[a-zA-Z/][^<>]*>"  # addresses and tags of HTML
    r"|(?<=\])\([^()\s]*\)"  # targets of links
    r"|(?<!\w)'[^'\s]+'|\"[^\"\s]+\"",  # quoted names
    re.S,
)
_SENTENCE_END = re.compile(
    r"(?<![a-zA-Z]\.[a-z])(?<!\bcf)(?<!\bvs)(?<!\bal)[.!?][\")\]*_]*\s+(?=[\"'(\[*_]*(?:[^\W\da-z]|`))"
)
_WORD = re.compile(r"[^\W\d_][\w'’-]*|`+")
_SECTIONS = (
    "Args", "Attributes", "Example", "Examples", "Inputs", "Note", "Notes", "Outputs", "Raises", "Reference", "References",
    "Returns", "See Also", "Supported Platforms", "Warning", "Warns", "Yields",
)  # fmt: skip
_HEADER = re.compile(rf"({'|'.join(_SECTIONS)})( \w+)?:$")
_ENTRY = re.compile(r"[\w*`'][^:]{0,80}?:\s+(?=\S)")
_DIRECTIVE = re.compile(r"#!|#:?\s*(noqa|type:|fmt:|mypy:|ruff:|pragma|pylint|-\*-|[-=]{3})")
_MESSAGE_CALL = re.compile(r"(?i)refus|warn|error|fail|malformed")
_MESSAGE_KEYWORDS = {"help", "description", "epilog", "instead", "reason"}
_STRING_OR_COMMENT = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'{3}(?:\\.|[^\\])*?\'{3}|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^'\\\n])*\'|(?P<comment>#[^\n]*)''',
    re.S,
)
_PLACEHOLDER = "`…`"


@dataclass(frozen=True)
class Passage:
    """A paragraph, list item, argument, comment or message.

    Attributes:
        kind (str): one of ``KINDS``.
        line (int): number of the first line.
        text (str): the text; a line break stands for the next line of the file.
        heading (bool): whether the passage is the heading of a page. Default: ``False``.
        summary (bool): whether the passage is the first paragraph of a docstring. Default: ``False``.
    """

    kind: str
    line: int
    text: str
    heading: bool = False
    summary: bool = False


@dataclass(frozen=True)
class Sentence:
    """One sentence of a passage: ``text`` as written, and ``masked`` without code and line breaks."""

    passage: Passage
    line: int
    text: str
    masked: str

    @property
    def words(self) -> int:
        return count_words(self.masked)


def mask(text: str) -> str:
    """Replace code, formulas and addresses by characters of the same number that no pattern matches."""

    def hide(match: re.Match[str]) -> str:
        content = match[0]
        if content[0] in "(<":  # the target of a link, a tag
            return " " * len(content)
        return "`" + "·" * (len(content) - 2) + "`"

    return re.sub(r"\s", " ", _CODE.sub(hide, text))


def count_words(masked: str) -> int:
    """Count the words of a masked text; a piece of code is one word."""
    return len(_WORD.findall(re.sub(r"`·*`", "`", masked)))


def sentences(passage: Passage) -> Iterator[Sentence]:
    """Split a passage into sentences."""
    masked = mask(passage.text)
    ends = [match.end() for match in _SENTENCE_END.finditer(masked)]
    for start, end in zip([0, *ends], [*ends, len(masked)], strict=True):
        line = passage.line + passage.text.count("\n", 0, start)
        text = " ".join(passage.text[start:end].split())
        if text:
            yield Sentence(passage, line, text, masked[start:end].strip())


def passages(file: Path) -> list[Passage]:
    """Collect the passages of a Markdown page or a Python file."""
    text = file.read_text()
    if file.suffix == ".md":
        name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name
        kind = "decisions" if "/decisions/" in name else "pages"
        return list(_page(text, kind, tables=name not in GENERATED))
    tree = ast.parse(text)
    return [*_comments(text), *_strings(tree)]


def _page(text: str, kind: str, tables: bool) -> Iterator[Passage]:
    """Split a page into headings, paragraphs, list items and cells of tables, without its code."""
    collected: list[str] = []
    first = 0
    fence = ""
    for number, line in enumerate([*text.split("\n"), ""], 1):
        stripped = line.strip()
        opened = re.match(r"(`{3,}|~{3,})", stripped)
        alone = bool(opened or fence or not stripped or re.match(r"#+ |\||:::|<!--|---$|!!! |=== ", stripped))
        if collected and (alone or re.match(r"([-*+]|\d+\.) ", stripped)):
            yield Passage(kind, first, "\n".join(collected))
            collected = []
        if fence:
            fence = "" if stripped.startswith(fence) and not stripped.strip("`~") else fence
        elif opened:
            fence = opened[0]
        elif stripped.startswith("#"):
            yield Passage(kind, number, stripped.lstrip("# "), heading=True)
        elif stripped.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", stripped) if tables else ():
                if cell.strip(" -:"):
                    yield Passage(kind, number, cell.strip())
        elif not alone:
            first = first if collected else number
            collected.append(re.sub(r"^([-*+]|\d+\.|>) ", "", stripped))


def _docstring(text: str, line: int) -> Iterator[Passage]:
    """Split a docstring into paragraphs and entries of its sections, without examples and formulas."""
    lines = text.expandtabs().split("\n")
    margin = min((_indent(x) for x in lines[1:] if x.strip()), default=0)
    lines = [lines[0].strip(), *(x[margin:].rstrip() for x in lines[1:]), ""]
    collected: list[str] = []
    first = last_indent = 0
    skipped = in_section = False  # skipped: an example or a formula, up to the next empty line
    summary = True
    for number, content in enumerate(lines, line):
        stripped, indent = content.strip(), _indent(content)
        header = _HEADER.match(stripped)
        bullet = re.match(r"([-*]|\d+\.) ", stripped)
        entry = in_section and indent in (4, 8) and _ENTRY.match(stripped)
        ends = not stripped or header or bullet or indent < last_indent or (entry and indent <= last_indent)
        if collected and ends:
            yield Passage("docstrings", first, "\n".join(collected), summary=summary)
            collected, summary = [], False
        if not stripped:
            skipped = False
            continue
        if header or (not in_section and indent == 0 and _HEADER.match(stripped)):
            in_section, last_indent = True, 0
            continue
        in_section = in_section and indent > 0
        starts = not collected
        skipped = skipped or stripped.startswith((">>>", "```", "==", "{", "|", ".. "))
        skipped = skipped or (starts and indent > 0 and not in_section and not bullet)
        if skipped:
            continue
        if starts:
            first, last_indent = number, indent
            stripped = stripped[entry.end() :] if entry else re.sub(r"^([-*]|\d+\.) ", "", stripped)
        collected.append(stripped)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _comments(text: str) -> Iterator[Passage]:
    """Join the comments of consecutive lines of one column."""
    collected: list[str] = []
    first = line = last = column = position = 0
    for match in _STRING_OR_COMMENT.finditer(text):
        comment = match["comment"]
        if comment is None or _DIRECTIVE.match(comment):
            continue
        line += text.count("\n", position, match.start())
        position = match.start()
        start = position - text.rfind("\n", 0, position)
        alone = not text[position - start + 1 : position].strip()
        if collected and not (alone and line == last + 1 and start == column):
            yield Passage("comments", first + 1, "\n".join(collected))
            collected = []
        if not collected:
            first, column = line, start
        collected.append(re.sub(r"^#:?[\s-]*|-{3,}$|\s*#\s*(noqa|type:|fmt:).*$", "", comment))
        last = line
    if collected:
        yield Passage("comments", first + 1, "\n".join(collected))


def _strings(tree: ast.Module) -> Iterator[Passage]:
    """Collect docstrings and messages: of errors, warnings and help, and other strings of five words or more."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, said = waiting.pop()
        if isinstance(node, ast.expr):
            text = _string(node)
            if text is not None:
                yield from _message(text, node.lineno, 3 if said else 5)
                continue
            if isinstance(node, ast.Name):
                continue
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                said = said or bool(_MESSAGE_CALL.search(name))
        elif isinstance(node, ast.Raise) or (isinstance(node, ast.keyword) and node.arg in _MESSAGE_KEYWORDS):
            said = True
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and (text := _string(first.value)) is not None:
                yield from _docstring(text, first.lineno)
                waiting += [(child, said) for child in ast.iter_child_nodes(node) if child is not first]
                continue
        waiting += [(child, said) for child in ast.iter_child_nodes(node)]


def _message(text: str, line: int, fewest: int) -> Iterator[Passage]:
    """The passages of a string, if at least half of it and ``fewest`` words are English."""
    words = re.findall(r"(?<!\S)[a-zA-Z][a-z'-]*(?=[\s,.;:]|$)", mask(text)) if " " in text else []
    if len(words) < fewest or len(words) * 2 < len(text.split()):
        return
    if "\n" in text:
        for passage in _docstring(text, line):
            yield Passage("messages", passage.line, passage.text)
    else:
        yield Passage("messages", line, text)


def _string(node: ast.AST) -> str | None:
    """The text of a string, of an f-string with placeholders, or of a sum of them; ``None`` for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = [x.value if isinstance(x, ast.Constant) else _PLACEHOLDER for x in node.values]
        return "".join(str(part) for part in parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _string(node.left), _string(node.right)
        if left is not None or right is not None:
            return (left or _PLACEHOLDER) + (right or _PLACEHOLDER)
    return None


def files() -> list[Path]:
    """The files whose prose is counted: English pages, the package and the examples."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "README.md"]
    english = [page for page in pages if not page.name.endswith(".zh.md") and page != ROOT / GUIDE]
    programs = [*(ROOT / "src" / "mindgrad").rglob("*.py"), *(ROOT / "examples").rglob("*.py")]
    return sorted(english) + sorted(programs)
