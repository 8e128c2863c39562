#!/usr/bin/env python3
"""Builds the book of these pages into target/book, and checks every link, anchor and file of it. Needs mdBook (setup.sh --book).

mdBook also calls this file as a preprocessor. The pages link to files of the repository, which are not in the book: those links
get the address of the repository, THRONG_SOURCE_URL (for example https://example.org/throng/blob/main). Without it they lead to
the clone that the book was built in.
"""

import html.parser
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path

DOCS = Path(__file__).resolve().parent
REPOSITORY = DOCS.parent
BOOK = REPOSITORY / "target/book"
# The book's folder as seen from the repository, for links from one to the other.
DEPTH = len(BOOK.relative_to(REPOSITORY).parts)
# Inline links, and lines that define one.
LINK = re.compile(r"(?m)(\]\(|^ {0,3}\[[^\]]+\]:\s+)([^)\s]+)")


def with_source_links(content, page):
    """Returns the text of a page in which links to files outside of docs/ have their address."""
    folder = posixpath.dirname(page)
    clone = "../" * (DEPTH + len(Path(page).parts) - 1)
    base = os.environ.get("THRONG_SOURCE_URL", clone.rstrip("/"))

    def with_address(match):
        path = posixpath.normpath(posixpath.join("docs", folder, match[2]))
        is_outside = not urllib.parse.urlsplit(match[2]).scheme and not path.startswith("docs/")
        # mdBook would change the ending of a page to .html.
        return f"{match[1]}{base}/{path.replace('.md', '%2Emd')}" if is_outside and match[2][0] != "#" else match[0]

    # The book's highlighter knows no shading language.
    return re.sub(r"(?m)^```(glsl|hlsl)$", "```cpp", LINK.sub(with_address, content))


def preprocess():
    _, book = json.load(sys.stdin)
    rest = list(book["items"])
    while rest:
        chapter = rest.pop()
        if isinstance(chapter, dict) and "Chapter" in chapter:
            chapter = chapter["Chapter"]
            if chapter["path"]:
                chapter["content"] = with_source_links(chapter["content"], chapter["path"])
            rest += chapter["sub_items"]
    json.dump(book, sys.stdout)


def make_accessible():
    """Lets the keyboard scroll wide code and tables, and gives the button of the sidebar the role that it has."""
    for path in BOOK.rglob("*.html"):
        text = path.read_text()
        for start in ("<pre><code", '<div class="table-wrapper"'):
            text = text.replace(start, f'{start} tabindex="0"')
        path.write_text(text.replace('<label id="mdbook-sidebar-toggle"', '<label id="mdbook-sidebar-toggle" role="button"'))


class Page(html.parser.HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        for name in ("href", "src"):
            if attributes.get(name):
                (self.links if tag == "a" else self.loaded).append(attributes[name])


def check():
    """Returns what is wrong: links that lead nowhere, files from elsewhere, and pages that the book leaves out."""
    pages = {path: Page(path) for path in BOOK.rglob("*.html")}
    faults = []
    for path, page in pages.items():
        if path.name in ("404.html", "toc.html"):
            continue
        for link in page.links + page.loaded:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.loaded:
                    faults.append(f"{path.relative_to(BOOK)} loads {link}")
                continue
            target = Path(os.path.normpath(path.parent / urllib.parse.unquote(url.path))) if url.path else path
            anchor = urllib.parse.unquote(url.fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                faults.append(f"{path.relative_to(BOOK)}: {link} leads nowhere")
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_suffix(".html")
        if page.name != "SUMMARY.md" and not (BOOK / name).exists():
            faults.append(f"docs/{page.relative_to(DOCS)} is not in SUMMARY.md")
    return faults


def main():
    # mdBook asks first whether the preprocessor supports a renderer. It supports all.
    if "supports" in sys.argv:
        return
    if "preprocess" in sys.argv:
        preprocess()
        return
    if not shutil.which("mdbook"):
        sys.exit("mdBook is missing: run ./setup.sh --book")
    subprocess.run(["mdbook", "build", DOCS], check=True)
    make_accessible()
    if faults := check():
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
