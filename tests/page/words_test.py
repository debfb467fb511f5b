#!/usr/bin/python3
"""Checks that no text of the pages is missing in any language, without a browser.

    words_test.py [TEST...]    TEST: as in WordsTest.test_languages_have_the_same_texts
"""

import html.parser
import pathlib
import re
import unittest

PAGES = pathlib.Path(__file__).resolve().parents[2] / "platform/http/pages"
SCRIPTS = sorted([*PAGES.glob("*.js"), *PAGES.glob("history/*.js")])
HTML = sorted(PAGES.glob("*.html"))
LANGUAGES = sorted(PAGES.glob("words/*.js"))
MARK = "data-word"
READ_OUT = {"alt", "aria-label", "placeholder", "title"}  # attributes that people read
VOID = {"img", "input", "link", "meta"}
STRING = re.compile(r'"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`')
# How a text for people begins: a word with a capital, and another one. Names of keys and headers do not.
SENTENCE = re.compile(r"[A-Z][a-z]+ \S|[A-Z][a-z]+[.:!?]$")


class Text:
    """`names`: of a function's parameters; None: it is no function. `source`: what follows its key."""

    def __init__(self, source):
        self.source = source
        found = re.match(r"\(([^)]*)\) =>", source)
        self.names = [name.strip() for name in found[1].split(",")] if found else None
        self.body = source[found.end() :] if found else source

    def with_value(self, value):
        """The text; of a function of one parameter, with this value."""
        text = "".join(literal[1:-1] for literal in STRING.findall(self.body))
        return text if self.names is None else text.replace(f"${{{self.names[0]}}}", value)


def read_texts(path):
    """By key; `errors.busy` are those of a group."""
    lines = path.read_text(encoding="utf-8").splitlines()
    sources, group, last = {}, "", None
    for line in lines[lines.index("export const words = {") + 1 : lines.index("};")]:
        indent = "    " if group else "  "
        if not line or line.lstrip().startswith("//"):
            continue
        if opened := re.fullmatch(r"  (\w+): \{", line):
            group = opened[1] + "."
        elif line == "  },":
            group = ""
        elif begun := re.match(rf"{indent}(\w+):(.*)", line):
            last = group + begun[1]
            assert last not in sources, f"{path.name} has {last} twice"
            sources[last] = begun[2].strip()
        else:
            sources[last] += " " + line.strip()
    return {key: Text(source) for key, source in sources.items()}


class PageTexts(html.parser.HTMLParser):
    """`marked`: key, number and text of what has a key; `unmarked`: what people read and has none."""

    def __init__(self, path):
        super().__init__()
        self.marked, self.unmarked = [], []
        self.stack = []  # of elements: key, number, whether its text is translated, and the text
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        for name, value in attrs:
            if name.startswith(MARK + "-"):
                self.marked.append((value, None, values[name[len(MARK) + 1 :]]))
            elif name in READ_OUT and value and f"{MARK}-{name}" not in values:
                self.unmarked.append(f"{name}={value}")
        if tag == "code":
            self.handle_data("`")
        elif tag not in VOID:
            outer = self.stack[-1] if self.stack else {"translated": True}
            is_left = tag == "noscript" or values.get("translate") == "no"
            translated = outer["translated"] and not is_left
            key = values.get(MARK)
            self.stack.append({"key": key, "number": values.get("data-number"), "translated": translated, "text": ""})

    def handle_endtag(self, tag):
        if tag == "code":
            self.handle_data("`")
            return
        element = self.stack.pop()
        text = " ".join(element["text"].split())
        if element["key"]:
            self.marked.append((element["key"], element["number"], text))
        elif element["translated"] and re.search(r"[A-Za-z]", text):
            self.unmarked.append(text)

    def handle_data(self, data):
        if self.stack:
            self.stack[-1]["text"] += data


class WordsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.languages = {path.stem: read_texts(path) for path in LANGUAGES}
        cls.english = cls.languages["en"]

    def used_by(self, path):
        """The keys that a script uses; where it chooses one of a group, all of these."""
        text = path.read_text(encoding="utf-8")
        for name, member in re.findall(r"(?<![/\w])words\.(\w+)(\.\w+)?", text):
            wanted = {name, name + member}
            if not member:
                wanted |= {key for key in self.english if key.startswith(name + ".")}
            found = wanted & set(self.english)
            self.assertTrue(found, f"{path.name} uses words.{name}{member}, which no language has")
            yield from found

    def test_languages_have_the_same_texts(self):
        self.assertEqual(sorted(self.languages), ["de", "en"])
        for language, texts in self.languages.items():
            self.assertEqual(list(texts), list(self.english), language)
            for key, text in texts.items():
                expected = self.english[key].names
                self.assertEqual(text.names and len(text.names), expected and len(expected), f"{language}: {key}")
                for name in text.names or []:
                    self.assertIn(name, text.body, f"{language}: {key}")

    def test_each_text_of_the_pages_is_there_and_in_use(self):
        used = {key for path in SCRIPTS for key in self.used_by(path)}
        for path in HTML:
            page = PageTexts(path)
            self.assertEqual(page.unmarked, [], path.name)
            for key, number, text in page.marked:
                self.assertIn(key, self.english, path.name)
                self.assertEqual(text, self.english[key].with_value(number), f"{path.name}: {key}")
                used.add(key)
        self.assertEqual(sorted(set(self.english) - used), [], "not in use")

    def test_scripts_have_no_texts_of_their_own(self):
        for path in SCRIPTS:
            code = re.sub(r"^\s*//.*|  //.*", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            texts = [text for text in STRING.findall(code) if SENTENCE.search(text[1:-1])]
            self.assertEqual(texts, [], f"{path.name}: these belong into words/")


if __name__ == "__main__":
    unittest.main()
