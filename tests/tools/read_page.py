#!/usr/bin/python3
"""Checks a report of `lookout eval`, `bench` or `trace-summary` in HTML, and prints its figures as JSON.

    read_page.py FILE

A page has to be well-formed and to need nothing but itself: no script, no address, no picture that is not in
it. What is drawn has a description, tables have captions. The JSON has `title`, `tiles` (name -> value),
`tables` (caption -> rows of texts), `headings` and `text`.
"""

import html.parser
import json
import sys

VOID = {"meta", "img", "br", "link", "input", "hr"}
FORBIDDEN = {"script", "iframe", "object", "embed", "link", "base", "form", "foreignobject"}
ADDRESSES = {"src", "href", "xlink:href", "action", "data", "srcset"}


def problems_of(tag, attributes):
    """Yields a sentence for each thing that a report must not have."""
    values = dict(attributes)
    if len(values) != len(attributes):
        yield f"<{tag}> has an attribute twice"
    if tag in FORBIDDEN:
        yield f"<{tag}> is not allowed"
    for name, value in values.items():
        if name.startswith("on") or (name in ADDRESSES and not value.startswith("data:image/")):
            yield f"<{tag} {name}={value!r}>"
    if tag == "img" and not values.get("alt"):
        yield "<img> without alt"
    if tag == "svg" and not (values.get("aria-label") or values.get("aria-hidden")):
        yield "<svg> without a description"


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.problems, self.text = [], [], []
        self.title, self.tiles, self.tables, self.headings = "", {}, {}, []
        self.name, self.caption, self.row = "", "", None

    def handle_starttag(self, tag, attributes):
        self.problems += problems_of(tag, attributes)
        if tag == "table":
            self.caption = ""
        if tag == "tr":
            self.row = []
        if tag in ("td", "th") and not self.caption:
            self.problems.append("a table without a caption")
        if tag not in VOID:
            self.open.append([tag, ""])

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_data(self, data):
        for element in self.open:
            element[1] += data
        if not any(tag == "style" for tag, _ in self.open):
            self.text.append(data)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.problems.append(f"</{tag}> within {[name for name, _ in self.open]}")
            return
        text = self.open.pop()[1]
        if tag == "style" and ("url(" in text or "@import" in text):
            self.problems.append("the style has an address")
        self.take(tag, text.strip())

    def take(self, tag, text):
        """Keeps the text of an element that ended."""
        if tag == "title" and not self.title:
            self.title = text
        elif tag == "h2":
            self.headings.append(text)
        elif tag == "dt":
            self.name = text
        elif tag == "dd":
            self.tiles.setdefault(self.name, text)
        elif tag == "caption":
            self.caption = text
            self.tables[text] = []
        elif tag in ("td", "th"):
            self.row.append(text)
        elif tag == "tr":
            self.tables[self.caption].append(self.row)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        content = file.read()
    page = Page()
    page.feed(content)
    page.close()
    problems = page.problems + [f"<{tag}> is not closed" for tag, _ in page.open]
    if not content.startswith("<!DOCTYPE html>"):
        problems.append("no doctype")
    if problems:
        sys.exit("\n".join(problems))
    figures = {name: getattr(page, name) for name in ("title", "tiles", "tables", "headings")}
    json.dump({**figures, "text": " ".join(page.text)}, sys.stdout)


if __name__ == "__main__":
    main()
