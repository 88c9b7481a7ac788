"""A report for translators: `make untranslated`. Nothing of it fails a test.

What has no Chinese is printed as entries to paste into a catalogue of `bot/language/zh/`; then what the code does not
say any more, and the f-strings, which are English in every language.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from bot.language.message_catalogue import entries
from bot.language.po import Translation
from tests.support.quick_yaml import from_yaml
from tests.support.rule_templates import action_labels, label_values, reasons, rule_templates
from tests.support.said_phrases import ROOT, all_strings, joined_phrases, said_phrases, shown_words
from tests.support.templates import templates

UNSAID = Path(__file__).parent / "unsaid.yaml"


def untranslated(root: Path = ROOT, language: str = "zh") -> Mapping[tuple[str, str], str]:
    """Return the templates and the fixed words without a translation, with the place of each."""
    known = {entry.id for entry in entries(language).values()}
    unsaid = set(from_yaml(UNSAID.read_text(encoding="utf-8")))
    found = {one: place for one, place in templates(root).items() if one[0] not in known | unsaid}
    fixed = {**said_phrases(root), **shown_words(root)}
    for words, place in fixed.items():
        if "{}" not in words and words.strip() not in known and words not in unsaid:
            found.setdefault((words.strip(), ""), place)
    return found


def untranslated_rules(root: Path = ROOT, language: str = "zh") -> Mapping[tuple[str, str], str]:
    """Return the rules' sentences and the reasons of their actions without a translation: context, words, place."""
    known = entries(language)
    said = {("rule", form): place for form, place in rule_templates(root).items()}
    said |= {("reason", words): place for words, place in reasons(root).items()}
    said |= label_values(root)
    said |= {("", label): place for label, place in action_labels(root).items()}
    return {
        (context, words): place
        for (context, words), place in said.items()
        if "\x04".join(filter(None, (context, words))) not in known
    }


def stale(language: str = "zh") -> list[Translation]:
    """Return the entries that the code does not say any more. A template may be put together where it is used."""
    said = {*rule_templates(), *reasons(), *action_labels(), *(value for _, value in label_values())}
    said |= {form for forms in templates() for form in forms} | {words.strip() for words in all_strings()}
    verbs = {words.replace("{}", "{name}") for words in said_phrases()}
    return [entry for entry in entries(language).values() if entry.id and entry.id not in said | verbs]


def fstrings(root: Path = ROOT) -> Mapping[str, str]:
    """Return the f-strings that people may read, with the place of each."""
    unsaid = set(from_yaml(UNSAID.read_text(encoding="utf-8")))
    return {phrase: place for phrase, place in joined_phrases(root).items() if phrase not in unsaid}


def report(language: str = "zh") -> Iterator[str]:
    missing = untranslated()
    for (one, many), place in missing.items():
        yield f"#: {place}"
        yield f'msgid "{_quoted(one)}"'
        yield from (f'msgid_plural "{_quoted(many)}"', 'msgstr[0] ""\n') if many else ('msgstr ""\n',)
    rules = untranslated_rules()
    for (context, words), place in rules.items():
        yield f'#: alerts/packs/{place}\nmsgctxt "{context}"\nmsgid "{_quoted(words)}"\nmsgstr ""\n'
    gone = stale(language)
    yield from (f"no code says: {entry.id}" for entry in gone)
    glued = fstrings()
    yield from (f"{place}: an f-string, not a sentence: {words}" for words, place in glued.items())
    yield f"{len(missing) + len(rules)} without a translation, {len(gone)} that no code says, {len(glued)} f-strings."


def _quoted(words: str) -> str:
    return words.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


if __name__ == "__main__":
    print("\n".join(report()))
