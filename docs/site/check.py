"""Check the built site: links, images, and whether a search finds the right page.

    python docs/site/check.py build/site               without network and browser
    python docs/site/check.py build/site --browser     also loads the pages in a headless Chromium

The site's own search runs in Node.js, and certain terms have to find the right page first. playwright has
Node.js too.

The browser needs ``pip install playwright`` and ``playwright install chromium``, or the system's Chromium.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

#: the path below which the site is published, as mkdocs.yml has it
BASE = urlsplit(os.environ.get("MINDGRAD_SITE", "")).path or "/"
#: what a reader types, and the page that has to be among the results
SEARCHES = {
    "GradOperation": "gradients/",
    "laplacian": "reference/series/",
    "matmul": "reference/ops-linear-algebra/",
    "Adam": "reference/nn-optimizers/",
    "explain": "explain/",
    "CompileError": "supported_python/",
    "PyTorch": "coming_from/pytorch/",
    "Burgers": "gallery/",
    "check_grad": "checking/",
    "Levenberg": "tutorials/pinn_digits/",
    "Gauss–Newton": "howto/second_order/",
    "K-FAC": "howto/second_order/",
}
#: terms of the field, and the page that has to be the first result
FIRST_RESULTS = {
    "automatic differentiation": ("", "gradients/"),
    "autodiff": ("", "gradients/"),
    "backpropagation": ("gradients/",),
    "gradient checkpointing": ("howto/memory/",),
    "rematerialization": ("howto/memory/",),
    "per-sample gradients": ("howto/per_sample_gradients/",),
    "distributed training": ("scale/",),
    "interoperability": ("arrays/",),
    "higher-order": ("mode_choice/",),
    "dynamic shape": ("howto/shapes/",),
    "pure function": ("graph_mode/",),
    "control flow": ("howto/control_flow/",),
    "limitations": ("is_it_for_me/",),
    "installation": ("installation/",),
    "FAQ": ("faq/",),
    "troubleshooting": ("faq/",),
    "mixed precision": ("howto/mixed_precision/",),
    "finite differences": ("checking/",),
    "second-order optimization": ("howto/second_order/",),
    "安装": ("zh/installation/",),
}
SEARCHES_IN_CHINESE = {
    "梯度": "zh/gradients/",
    "自动微分": "zh/",
    "雅可比": "zh/gradients/",
    "牛顿法": "zh/tutorials/newton/",
    "二阶优化": "zh/howto/second_order/",
    "微分方程": "zh/tutorials/neural_ode/",
}


#: what the browser need not load: pages without a picture that are made in one way
FEW_PICTURES = ("reference/operations", "reference/dataset", "zh/decisions", "decisions")


class Page(HTMLParser):
    """The links, pictures and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := values.get(key))}
        for key in ("href", "src"):
            if value := values.get(key):
                self.targets.append(value)


def dead_links(site: Path) -> list[str]:
    """Links, pictures, scripts and anchors that lead nowhere within the site."""
    pages = {path: Page(path.read_text(encoding="utf8")) for path in site.rglob("*.html")}
    faults = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for target in sorted(set(page.targets)):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            start = site if parts.path.startswith("/") else path.parent
            inside = unquote(parts.path).removeprefix(BASE).lstrip("/")
            file = path if not parts.path else (start / inside).resolve()
            file = file / "index.html" if file.is_dir() else file
            where = path.relative_to(site)
            if not file.exists():
                faults.append(f"{where}: {target} leads nowhere")
            elif (
                parts.fragment
                and file in pages
                and unquote(parts.fragment) not in pages[file].anchors | {"__skip"}
            ):
                faults.append(f"{where}: {target} has no such place")
    return faults


def internal_pages(site: Path) -> list[str]:
    """Documents for maintainers, which are not part of the site."""
    return [f"{name} is on the site" for name in ("release", "zh/release") if (site / name).exists()]


def third_parties(site: Path) -> list[str]:
    """Scripts, styles and pictures from other hosts, which would be asked for by every reader."""
    faults = set()
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf8")
        for marker in ('src="http', '<link rel="stylesheet" href="http'):
            if marker in text:
                faults.add(f"{path.relative_to(site)}: something is loaded from another host")
    return sorted(faults)


def unknown_searches(site: Path) -> list[str]:
    """What the search index does not know."""
    documents = json.loads((site / "search" / "search_index.json").read_text(encoding="utf8"))["docs"]
    faults = []
    for words, location in (SEARCHES | SEARCHES_IN_CHINESE).items():
        locations = {
            entry["location"].partition("#")[0]
            for entry in documents
            if words.lower()
            in (entry["title"] + entry["text"]).lower().replace("\u200b", "")  # between words
        }
        if location not in locations:
            faults.append(f"search for {words!r} does not find {location}")
    return faults


def find_node() -> str | None:
    """The path of Node.js: an installed one, or playwright's."""
    package = importlib.util.find_spec("playwright")
    folder = Path(package.origin or "").parent / "driver" if package else None
    return shutil.which("node") or (shutil.which("node", path=folder) if folder else None)


def wrong_first_results(site: Path, node: str) -> list[str]:
    """Terms whose first result is the wrong page, in the site's own search."""
    program = Path(__file__).with_name("search.js")
    command = [node, str(program), str(site), *FIRST_RESULTS]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf8", timeout=300)
    if done.returncode:
        return [f"{program.name}: {done.stderr.strip()}"]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [
        f"search for {words!r} finds {results[0] if results else 'nothing'!r} first, not {expected[0]!r}"
        for (words, expected), results in zip(FIRST_RESULTS.items(), found, strict=True)
        if not results or results[0] not in expected
    ]


def browse(site: Path, chromium: str | None) -> list[str]:
    """Load the pages of the site in a headless browser, type into its search, and copy a program."""
    from playwright.sync_api import sync_playwright

    handler = functools.partial(Quiet, directory=str(site))
    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}/"
    faults: list[str] = []

    def note_response(answer: Any) -> None:
        # the theme looks for the map of another language's site beside each page
        if answer.status >= 400 and not answer.url.endswith("/sitemap.xml"):
            faults.append(f"{answer.url}: {answer.status}")

    def note_request(ask: Any) -> None:
        # the theme asks GitHub for the version of the repository that it shows
        if not ask.url.startswith(("data:", "blob:", root, "https://api.github.com/")):
            faults.append(f"{ask.url} is asked for")

    with sync_playwright() as playwright:
        if chromium is None and not Path(playwright.chromium.executable_path).exists():
            chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
        page.on("response", note_response)
        page.on("request", note_request)
        for path in sorted(site.rglob("index.html")):
            where = path.relative_to(site).parent.as_posix()
            if where.startswith(FEW_PICTURES):
                continue
            page.goto(f"{root}{where}/", wait_until="load")
            broken = page.evaluate("[...document.images].filter(x => !x.naturalWidth).map(x => x.src)")
            faults += [f"{where}: the picture {name} does not load" for name in broken]
        for start, searches in (("", SEARCHES), ("zh/", SEARCHES_IN_CHINESE)):
            faults += [
                fault for words in searches if (fault := search(page, root + start, words, searches[words]))
            ]
        page.goto(f"{root}quickstart/", wait_until="load")
        page.locator(
            ".highlight:has(.gp) button[data-clipboard-target], .highlight:has(.gp) .md-clipboard"
        ).first.click()
        copied = page.evaluate("navigator.clipboard.readText()")
        if not copied.startswith("import mindgrad as ms\n") or ">>>" in copied:
            faults.append(f"the copy button gives {copied!r}")
        browser.close()
    server.shutdown()
    return faults


def search(page: Any, start: str, words: str, location: str) -> str:
    """Type words into the search of a page, and wait for a result; what is wrong, if anything is."""
    page.goto(start, wait_until="load")
    page.keyboard.press("f")
    page.locator("input.md-search__input").fill(words)
    try:
        result = page.locator(f".md-search-result__link[href*='{location}']")
        result.first.wait_for(state="attached", timeout=20_000)
    except Exception as error:  # playwright's own, of which it has several
        return f"typing {words!r} does not find {location}: {type(error).__name__}"
    return ""


class Server(http.server.ThreadingHTTPServer):
    """A server for a browser that leaves a page before all of it has come."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server that writes no line for each request."""

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("site", type=Path)
    options.add_argument("--browser", action="store_true", help="load the pages in a headless Chromium too")
    options.add_argument("--chromium", help="the browser; otherwise playwright's own, or the system's")
    chosen = options.parse_args()
    site = chosen.site.resolve()
    faults = dead_links(site) + internal_pages(site) + third_parties(site) + unknown_searches(site)
    if node := find_node():
        faults += wrong_first_results(site, node)
    else:
        print("Node.js is not installed: the order of search results was not checked")
    if chosen.browser:
        faults += browse(site, chosen.chromium)
    print(*faults, sep="\n")
    print(f"{len(list(site.rglob('*.html')))} pages, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
