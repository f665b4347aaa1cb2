"""Words that decide what a print says: data, one file a language, loaded once, together.

A document's language is not known for sure, so a word counts in every language that lists it. What
CLDR knows (months, currencies, scales) is in cldr.json, made by bench/make_cldr.py.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from visualproof_server.proving.text.folding import bare, confusable, fold_text

PACKAGE = "visualproof_server.proving.vocabulary"
# Shorter captions are too like other words for a misread one to be told.
_SHORTEST_MISREAD = 4

_NONE: frozenset[str] = frozenset()

Words = tuple[str, ...]
"""A phrase, word by word, folded."""


def words_of(phrase: str) -> Words:
    """A phrase as it is looked up: folded, at its spaces, its words without closing periods."""
    return tuple(word.rstrip(".,") or word for word in fold_text(phrase).split())


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases with what each stands for, found at the end or the start of a run of words."""

    known: Mapping[Words, str]
    longest: int

    def at_end(self, words: list[str]) -> str:
        """What the longest phrase that `words` end with stands for, or ""."""
        for size in range(min(self.longest, len(words)), 0, -1):
            found = self.known.get(tuple(words[-size:]))
            if found is not None:
                return found
        return ""

    def at_start(self, words: list[str]) -> tuple[str, int]:
        """What the longest phrase that `words` begin with stands for, and its length; "", 0."""
        for size in range(min(self.longest, len(words)), 0, -1):
            found = self.known.get(tuple(words[:size]))
            if found is not None:
                return found, size
        return "", 0


class Vocabulary:
    """All languages' words. Lists are sets of folded phrases."""

    def __init__(self, languages: Mapping[str, Mapping[str, Any]], shared: Any, cldr: Any) -> None:
        self._languages, self._shared, self._cldr = languages, shared, cldr
        self._phrases: dict[tuple[str, ...], frozenset[Words]] = {}
        self._single: dict[tuple[str, ...], frozenset[str]] = {}

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that have a file."""
        return tuple(sorted(self._languages))

    def phrases(self, *lists: str) -> frozenset[Words]:
        """Phrases of some lists, of all languages."""
        if lists not in self._phrases:
            made = (words_of(p) for name in lists for p in self._listed(name))
            self._phrases[lists] = frozenset(made)
        return self._phrases[lists]

    def single(self, *lists: str) -> frozenset[str]:
        """Those of them that are one word."""
        if lists not in self._single:
            self._single[lists] = frozenset(p[0] for p in self.phrases(*lists) if len(p) == 1)
        return self._single[lists]

    def _listed(self, name: str) -> Iterator[str]:
        for language in self._languages.values():
            yield from language.get(name, ())

    def _grouped(self, name: str) -> Iterator[tuple[str, str]]:
        for language in self._languages.values():
            for key, phrases in language.get(name, {}).items():
                for phrase in phrases:
                    yield key, phrase

    @cached_property
    def bounds_before(self) -> Phrases:
        """Less than, at least, about, ...: "<", "≤", ">", "≥" or "~"."""
        return _phrases(self._grouped("bounds"))

    @cached_property
    def bounds_after(self) -> Phrases:
        """Or less, and over, ..."""
        return _phrases(self._grouped("bounds_after"))

    @cached_property
    def bounds_words(self) -> frozenset[Words]:
        """All phrases that bound a number before it."""
        return frozenset(self.bounds_before.known)

    @cached_property
    def negations(self) -> frozenset[Words]:
        return self.phrases("negations")

    @cached_property
    def shares(self) -> Phrases:
        """Per cent, per mille and basis points in words: "%", "‰" or "bp"."""
        names = (("%", "percent"), ("‰", "per_mille"), ("bp", "basis_points"))
        return _phrases((sign, p) for sign, name in names for p in self._listed(name))

    @cached_property
    def scales(self) -> Mapping[str, tuple[int, ...]]:
        """Powers of ten that a word states, folded; several where languages disagree.

        English is a document's most likely language where it knows the word.
        """
        found: dict[str, set[int]] = {}
        for word, powers in self._cldr["scales"].items():
            found.setdefault(fold_text(word).strip("."), set()).update(powers)
        for power, word in self._grouped("scales"):
            found.setdefault(fold_text(word).strip("."), set()).add(int(power))
        for power, listed in self._languages["en"]["scales"].items():
            found |= {fold_text(word): {int(power)} for word in listed}
        return {word: tuple(sorted(powers)) for word, powers in found.items()}

    @cached_property
    def units(self) -> Mapping[str, str]:
        """Signs of units as they are spelled, and what is one of them in another spelling only."""
        exact: dict[str, str] = {}
        for sign, others in self._shared["signs"].items():
            for spelled in (sign, *others):
                exact.setdefault(spelled, sign)
        for sign, word in self._grouped("units"):
            exact.setdefault(fold_text(word), sign)
        folded: dict[str, set[str]] = {}
        for spelled, sign in exact.items():
            folded.setdefault(spelled.casefold(), set()).add(sign)
        # KG is kg; MW may be mW only where it is written so.
        alone = {low: signs.pop() for low, signs in folded.items() if len(signs) == 1}
        return alone | exact

    @cached_property
    def unit_signs(self) -> frozenset[str]:
        """Canonical units."""
        return frozenset(self.units.values())

    @cached_property
    def mixed_units(self) -> Mapping[str, tuple[str, int]]:
        """Units that one quantity may have together: family, and place in it from the largest."""
        return {
            unit: (family, place)
            for family, units in self._shared["mixed"].items()
            for place, unit in enumerate(units)
        }

    @cached_property
    def currency_codes(self) -> Mapping[str, int]:
        """ISO 4217 codes and how many decimals their amounts have."""
        return dict(self._cldr["codes"])

    @cached_property
    def currency_signs(self) -> Mapping[str, frozenset[str]]:
        """Signs and short names, folded, with the codes that they may stand for."""
        # A lone letter is a currency only as a capital before its amount; R is the one in use.
        return {
            sign: frozenset(codes)
            for sign, codes in self._cldr["symbols"].items()
            if (not (len(sign) == 1 and sign.isascii() and sign.isalpha()) or sign == "r")
            and sign not in self.units
            and sign.strip("\u200b")
        } | {sign: frozenset(codes) for sign, codes in self._shared_currencies()}

    def _shared_currencies(self) -> Iterator[tuple[str, list[str]]]:
        for sign, codes in self._shared.get("currencies", {}).items():
            yield fold_text(sign), codes

    @cached_property
    def currency_names(self) -> Mapping[Words, frozenset[str]]:
        """Full names in all languages."""
        return {words_of(name): frozenset(codes) for name, codes in self._cldr["names"].items()} | {
            words_of(name): frozenset(codes)
            for name, codes in self._shared.get("currency_names", {}).items()
        }

    @cached_property
    def currency_ends(self) -> frozenset[str]:
        """Last words of currencies' names."""
        return frozenset(words[-1] for words in self.currency_names if words)

    @cached_property
    def months(self) -> Mapping[str, frozenset[int]]:
        """Names of months in all languages, also without their accents."""
        found: dict[str, set[int]] = {}
        listed = [
            *self._cldr["months"].values(),
            *(v.get("months", {}) for v in self._languages.values()),
        ]
        for names in [*listed, self._shared.get("months", {})]:
            for name, number in names.items():
                for spelled in {fold_text(name), bare(fold_text(name))}:
                    found.setdefault(spelled, set()).add(number)
        return {name: frozenset(numbers) for name, numbers in found.items()}

    @cached_property
    def captions(self) -> Mapping[Words, frozenset[str]]:
        """What print calls each role: phrase to roles."""
        found: dict[Words, set[str]] = {}
        for role, phrase in self._grouped("captions"):
            words = caption_words(phrase)
            # "No." counts in every language; it names nothing.
            if (words and words[0] not in ("no", "nr")) or len(words) > 1:
                found.setdefault(words, set()).add(role)
        return {words: frozenset(roles) for words, roles in found.items()}

    @cached_property
    def _misread_captions(self) -> Mapping[str, frozenset[str]]:
        """Captions by what OCR makes of them, where all that are alike name the same."""
        found: dict[str, set[frozenset[str]]] = {}
        for words, roles in self.captions.items():
            found.setdefault(_misread(words), set()).add(roles)
        return {k: next(iter(roles)) for k, roles in found.items() if k and len(roles) == 1}

    def roles_called(self, words: Words) -> frozenset[str]:
        """Roles that a printed caption names, also one that OCR misread as it does: Tota1, Falligkeit."""
        known = self.captions.get(words)
        return known if known is not None else self._misread_captions.get(_misread(words), _NONE)

    @cached_property
    def codes_that_are_words(self) -> frozenset[str]:
        return frozenset(self._shared["codes_that_are_words"])

    @cached_property
    def codes_in_small_letters(self) -> frozenset[str]:
        return frozenset(self._shared["codes_in_small_letters"])

    @cached_property
    def parties(self) -> Mapping[str, str]:
        """Words of fields' names and the party each names."""
        return {word: party for party, word in self._grouped("parties")}

    @cached_property
    def facets(self) -> Mapping[Words, str]:
        """Names of fields that ask for a part of a party: its name, street, city, postcode."""
        return {words_of(p): facet for facet, p in self._grouped("facets")}

    @cached_property
    def names(self) -> Mapping[Words, str]:
        """Names of fields and the role each asks for."""
        return {words_of(p): role for role, p in self._grouped("names")}


def caption_words(text: str) -> Words:
    """A caption as it is compared: its words without marks."""
    kept = "".join(
        c if c.isalnum() or c in "%#&" else "" if c in ".'-" else " " for c in fold_text(text)
    )
    return tuple(kept.split())


def _misread(words: Words) -> str:
    """A caption with all merged that OCR takes for each other; "" for what may be a code."""
    if any(2 * sum(map(str.isdigit, word)) > len(word) for word in words):
        return ""
    joined = "".join(words)
    return confusable(joined) if len(joined) >= _SHORTEST_MISREAD else ""


def _phrases(pairs: Iterable[tuple[str, str]]) -> Phrases:
    known: dict[Words, str] = {}
    for key, phrase in pairs:
        known.setdefault(words_of(phrase), key)
    return Phrases(known, max(map(len, known), default=0))


def files() -> list[Traversable]:
    """The data files, in the order of their names."""
    here = resources.files(PACKAGE)
    return sorted(
        (f for f in here.iterdir() if f.name.endswith((".toml", ".json"))), key=lambda f: f.name
    )


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """The vocabulary of all languages that have a file."""
    made: dict[str, Any] = {}
    for file in files():
        if file.name.endswith(".toml"):
            made[file.name.removesuffix(".toml")] = tomllib.loads(file.read_text("utf-8"))
        else:
            made[file.name] = json.loads(file.read_text("utf-8"))
    return Vocabulary(
        {name: data for name, data in made.items() if len(name) <= 3},
        made["units"] | made["currencies"],
        made["cldr.json"],
    )
