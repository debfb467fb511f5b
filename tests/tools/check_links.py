#!/usr/bin/python3
"""Checks that the links of the documents lead somewhere.

    check_links.py ROOT               every .md file of the checkout ROOT; and that those which are
                                      installed (deploy/documents.list) link to installed files only
    check_links.py --installed DIR    every .md file in DIR: the package's /usr/share/doc/lookout

A link is relative, to a file or folder, or to a heading (#anchor) of a document. Other addresses are not
looked at. What the architecture, pipeline/README.md, writes as code and looks like a file, a function or a
type of the project has to be there, too.
"""

import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(
    r"[\w./*-]*\w\.(cpp|h|py|sh|cmake|toml|in|md|h2m)|(app|pipeline|platform|models|tests|deploy)/[\w./*-]*"
)
NAME = re.compile(r"(?:\w+(?:::|\.))?(\w+)\(\)|(?:\w+::)?(\w*(?:_|[a-z][A-Z]|[A-Z][a-z])\w*)(?:<T>)?")
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def text_of(path):
    return CODE_BLOCK.sub("", path.read_text(encoding="utf-8"))


def anchors_of(path):
    """As GitHub makes them of headings."""
    titles = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", t) for t in HEADING.findall(text_of(path)))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def problem_of(document, link):
    """A sentence, or None."""
    file, _, anchor = link.partition("#")
    target = document.parent / file if file else document
    if not target.exists():
        return f"there is no {file}"
    if anchor and anchor not in anchors_of(target):
        return f"{target.name} has no heading for #{anchor}"
    return None


def links_of(document):
    return [link for link in LINK.findall(text_of(document)) if not re.match(r"[a-z]+:", link)]


def check(documents):
    """Yields a sentence for each link that leads nowhere."""
    for document in documents:
        for link in links_of(document):
            problem = problem_of(document, link)
            if problem:
                yield f"{document}: {link}: {problem}"


def check_installed(root):
    """Yields a sentence for each link of an installed document to a file that is not installed."""
    names = (root / "deploy" / "documents.list").read_text(encoding="utf-8").split()
    installed = {(root / name).resolve() for name in names}
    for document in sorted(installed):
        for link in links_of(document):
            target = (document.parent / link.partition("#")[0]).resolve()
            if link[0] != "#" and target not in installed:
                yield f"{document}: {link}: deploy/documents.list does not install it"


def check_architecture(root):
    """Yields a sentence for each file and name that pipeline/README.md speaks of and nobody has."""
    document = root / "pipeline" / "README.md"
    listed = ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
    sources = [root / file for file in files if file.endswith((".cpp", ".h", ".cmake", ".py", ".in", ".txt"))]
    words = {pathlib.Path(file).stem for file in files}
    for source in filter(pathlib.Path.exists, sources):
        words.update(re.findall(r"\w+", source.read_text(encoding="utf-8")))
    for code in CODE.findall(text_of(document)):
        if FILE.fullmatch(code):
            if not any(root.glob(code)) and not any(root.glob(f"*/**/{code}")):
                yield f"{document}: there is no {code}"
        elif name := NAME.fullmatch(code):
            if not words.intersection(name.groups()):
                yield f"{document}: no source has {code}"


def documents_of(root):
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for name in listed.stdout.split() if (path := root / name).exists()]


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--installed":
        documents = sorted(pathlib.Path(sys.argv[2]).rglob("*.md"))
        problems = list(check(documents))
    elif len(sys.argv) == 2:
        root = pathlib.Path(sys.argv[1])
        documents = documents_of(root)
        problems = [*check(documents), *check_installed(root), *check_architecture(root)]
    else:
        sys.exit(__doc__)
    if not documents:
        problems.append("no document was found")
    print("\n".join(problems) or "links: clean", file=sys.stderr if problems else sys.stdout)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
