"""A page as a browser's parser would find it."""

from html.parser import HTMLParser

VOID = {"br", "hr", "img", "input", "link", "meta"}


class ParsedPage(HTMLParser):
    """Its tags with their attributes, and its scripts with theirs; what is opened must be closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self._open = [], [], []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "script":
            self.scripts.append([dict(attributes), ""])
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open[-1:] == ["script"]:
            self.scripts[-1][1] += data

    def list_values(self, attribute):
        return [attributes[attribute] for _, attributes in self.tags if attribute in attributes]
