"""Read options with defaults filled in, refused where the server cannot follow them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from visualproof.v1 import document_pb2

from visualproof_server.model.document import ReadOptions, TextLayer
from visualproof_server.model.errors import VisualProofError

# Enough to tell ink from none, and to read a doubtful word again; a page costs half of 300 dpi.
TEXT_LAYER_DPI = 200
_LANGUAGE = re.compile(r"[A-Za-z_]{2,20}")


@dataclass(frozen=True, slots=True)
class Defaults:
    """What an empty option means; engines maps each to its languages."""

    engine: str
    languages: tuple[str, ...]
    dpi: int
    engines: Mapping[str, tuple[str, ...]]


def options_from_wire(wire: document_pb2.ReadOptions, defaults: Defaults) -> ReadOptions:
    """Errors OPTIONS_INVALID, ENGINE_UNKNOWN, LANGUAGE_UNKNOWN."""
    engine = wire.engine or defaults.engine
    if engine not in defaults.engines:
        known = ", ".join(defaults.engines)
        raise VisualProofError(
            "ENGINE_UNKNOWN", f"Engines here are: {known}.", field_path="options.engine"
        )
    languages = tuple(dict.fromkeys(wire.languages)) or defaults.languages
    for language in languages:
        if not _LANGUAGE.fullmatch(language):
            raise _invalid("languages", "A language is a code such as eng.")
        if language not in defaults.engines[engine]:
            raise VisualProofError(
                "LANGUAGE_UNKNOWN",
                f"{engine} has no language {language} here; on Debian, install"
                f" tesseract-ocr-{language.lower().replace('_', '-')}.",
                field_path="options.languages",
            )
    if wire.text_layer not in document_pb2.TextLayer.values():
        raise _invalid("text_layer", f"This server does not know the text layer {wire.text_layer}.")
    visible = wire.text_layer == document_pb2.TEXT_LAYER_VISIBLE
    dpi = wire.dpi or (TEXT_LAYER_DPI if visible else defaults.dpi)
    if not 72 <= dpi <= 600:
        raise _invalid("dpi", "dpi must be 72 to 600.")
    first = wire.first_page or 1
    if wire.last_page and wire.last_page < first:
        raise _invalid("last_page", "last_page must not be before first_page.")
    return ReadOptions(
        languages,
        dpi,
        first,
        wire.last_page,
        engine,
        wire.tables_disabled,
        TextLayer.VISIBLE if visible else TextLayer.IGNORED,
        wire.password,
    )


def _invalid(name: str, message: str) -> VisualProofError:
    return VisualProofError("OPTIONS_INVALID", message, field_path=f"options.{name}")
