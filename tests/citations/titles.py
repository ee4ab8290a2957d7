"""Invented titles, journals, publishers and places, with all that titles can have in them."""

from __future__ import annotations

TITLES = (
    "On the lamps of the northern coast",
    "Lamp oil prices: A survey of 400 harbours",
    "What do keepers see? Fog, light and attention",
    "The effect of <i>Laminaria digitata</i> on foghorn maintenance",
    "Measuring H<sub>2</sub>O vapour at 10<sup>6</sup> candelas",
    "“Light the lamp”: Orders and their reception",
    "A reply to 'The dark harbour'",
    "Harbours Without Lamps",
    "Is there a lamp in this class?",
    'Keepers, gulls, and <span class="nocase">e-mail</span> in remote places',
    "Der Leuchtturm als Ort der Erinnerung",
    "Les phares : une histoire de la lumière",
    "The DNA of light: how LEDs changed the sea-front",
    "Stop! The bell is ringing",
    "Towards a theory of “glow” in the work of the 'Lantern school'",
    "A note on $x^2$ & other powers",
    "Review of reviews",
    "An iPhone-based lux meter for low-cost field work",
    "A Lamp by Any Other Name: Or, The Keeper's Tale",
    "the unnamed lamp",
    "Self-supervised learning of beam patterns with the aid of a re-projection loss",
    "ЗАПИСКИ О МАЯКАХ",
    "灯台の歴史",
    "تاريخ المنارات",
    "Light in the 1890s (and after)",
    "Lamps, part II. The wick",
    "Who keeps the keeper?: A study in supervision",
    "To be or not to be lit – an essay over two centuries",
    '<b>Bright</b> and <span style="font-variant:small-caps;">small</span> signals',
    "Notes from a lighthouse vs. the sea",
    "A 2D/3D model of beams... and their shadows.",
    "Über die Ausbreitung des Lichts bei Nebel",
    "Faint stars near <i>α</i> Centauri: what “naked eye” means",
    "Farol e mar: estudos de caso no litoral",
    "USA and UK policies on buoys, 1950–1990",
    "Proceedings of the Lamp Society",
    "McAllister's Wick and the O’Brien patent",
    "The <i>Keeper</i>, or <i>How <i>Aurora</i> was lost</i>",
    "How to light a lamp in ten steps?",
    "Lighthouse keeping as a 'way of life'",
    "Rotating optics: from Fresnel to fibre",
)  # fmt: skip

#: Names of periodicals and their short forms.
JOURNALS: tuple[tuple[str, str], ...] = (
    ("Journal of Coastal Light", "J. Coast. Light"),
    ("Annals of Fog", "Ann. Fog"),
    ("Lux", ""),
    ("The Lampman's Quarterly", "Lamp. Q."),
    ("Proceedings of the Academy of Harbours, Series B", "Proc. Acad. Harb. B"),
    ("Zeitschrift für Leuchtfeuer", "Z. Leuchtfeuer"),
    ("Light & Sea", "Light Sea"),
    ("The Skerrow Times", ""),
    ("Optics of the Shore: An International Journal", "Opt. Shore"),
    ("BEAM", "BEAM"),
    ("Revue d’histoire des phares", "Rev. hist. phares"),
    ("Nature Lamps", "Nat. Lamps"),
    ("PLoS Light", ""),
    ("Вестник маяков", ""),
    ("What's Next?", "Next"),
)

CONTAINERS = (
    "Handbook of Harbour Lighting",
    "The Oxford Companion to Fog",
    "Light and Society: Essays in Honour of a Keeper",
    "Proceedings of the 12th Meeting on Harbour Lights",
    "Encyclopedia of the Sea",
    "Advances in Lamps",
    "Why light? Collected answers",
    "Festschrift für einen Leuchtturmwärter",
    "Dictionary of Signals",
    "Reading the “Beam”",
)

PUBLISHERS = (
    "Skerrow University Press",
    "Gull & Sons",
    "Nordlicht-Verlag",
    "Éditions du Phare",
    "MIT Press",
    "Lamp Society, Inc.",
    "U.S. Government Lamp Office",
    "Harbour House Publishers",
)

PLACES = (
    "Skerrow",
    "Port Ellery, CA",
    "Nordhafen",
    "Cambridge, MA",
    "Saint-Phare",
    "London",
    "東京",
)

LANGUAGES = ("en", "de", "fr", "en-US", "ru", "ja", "en-GB", "es", "de-DE")
