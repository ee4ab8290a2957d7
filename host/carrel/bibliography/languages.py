"""Translates the names of languages that babel and MEDLINE use to language tags."""

from __future__ import annotations

import re
from typing import Final

_TAGS: Final = {
    "acadian": "fr-CA", "afrikaans": "af", "albanian": "sq", "american": "en-US", "amharic": "am",
    "arabic": "ar", "armenian": "hy", "australian": "en-AU", "austrian": "de-AT", "basque": "eu",
    "belarusian": "be", "bengali": "bn", "brazil": "pt-BR", "brazilian": "pt-BR", "breton": "br",
    "british": "en-GB", "bulgarian": "bg", "canadian": "en-CA", "canadien": "fr-CA",
    "catalan": "ca", "chinese": "zh", "coptic": "cop", "croatian": "hr", "czech": "cs",
    "danish": "da", "dutch": "nl", "english": "en", "esperanto": "eo", "estonian": "et",
    "ethiopia": "am", "farsi": "fa", "finnish": "fi", "francais": "fr", "french": "fr",
    "galician": "gl", "georgian": "ka", "german": "de", "germanb": "de", "greek": "el",
    "hebrew": "he", "hindi": "hi", "hungarian": "hu", "icelandic": "is", "indonesian": "id",
    "interlingua": "ia", "irish": "ga", "italian": "it", "japanese": "ja", "kannada": "kn",
    "korean": "ko", "kurmanji": "kmr", "lao": "lo", "latin": "la", "latvian": "lv",
    "lithuanian": "lt", "macedonian": "mk", "magyar": "hu", "malay": "ms", "malayalam": "ml",
    "marathi": "mr", "mexican": "es-MX", "mongolian": "mn", "naustrian": "de-AT",
    "newzealand": "en-NZ", "ngerman": "de", "norsk": "nb", "norwegian": "no", "nswissgerman":
    "de-CH", "nynorsk": "nn", "occitan": "oc", "persian": "fa", "polish": "pl", "polutonikogreek":
    "el", "portuges": "pt", "portuguese": "pt", "romanian": "ro", "russian": "ru", "sanskrit":
    "sa", "scottish": "gd", "serbian": "sr", "slovak": "sk", "slovene": "sl", "slovenian": "sl",
    "spanish": "es", "swedish": "sv", "swissgerman": "de-CH", "tamil": "ta", "telugu": "te",
    "thai": "th", "tibetan": "bo", "turkish": "tr", "turkmen": "tk", "ukenglish": "en-GB",
    "ukrainian": "uk", "urdu": "ur", "usenglish": "en-US", "vietnamese": "vi", "welsh": "cy",
    # MEDLINE's, of ISO 639-2/B
    "ara": "ar", "chi": "zh", "cze": "cs", "dan": "da", "dut": "nl", "eng": "en", "fin": "fi",
    "fre": "fr", "ger": "de", "gre": "el", "heb": "he", "hun": "hu", "ita": "it", "jpn": "ja",
    "kor": "ko", "nor": "no", "per": "fa", "pol": "pl", "por": "pt", "rum": "ro", "rus": "ru",
    "spa": "es", "swe": "sv", "tur": "tr", "ukr": "uk",
}  # fmt: skip
_NAMES: Final = {
    "de": "german", "de-AT": "austrian", "de-DE": "german", "de-CH": "swissgerman",
    "en": "english", "en-AU": "australian", "en-CA": "canadian", "en-GB": "british",
    "en-NZ": "newzealand", "en-US": "american", "es": "spanish", "fr": "french", "nb": "norsk",
    "pt": "portuguese", "pt-BR": "brazilian",
}  # fmt: skip


def language_tag(name: str) -> str:
    """Returns the tag of a language's name: `en-US` of `american`; another text as it is."""
    return _TAGS.get(re.sub(r"[\s_]", "", name).lower(), name)


def babel_name(tag: str) -> str:
    """Returns babel's name of a language tag; empty if it has none that is read as the tag."""
    found = _NAMES.get(tag) or next((name for name, code in _TAGS.items() if code == tag), "")
    return found if found and language_tag(found) == tag else ""
