"""Reads and writes CSL's dates: EDTF as BibLaTeX has it, and years with months in words."""

from __future__ import annotations

import re
from typing import Any, Final

#: A date of CSL-JSON.
CslDate = dict[str, Any]

_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_OTHER_MONTHS: Final = {
    "januar": 1, "janvier": 1, "enero": 1, "februar": 2, "fevrier": 2, "février": 2, "märz": 3,
    "maerz": 3, "mars": 3, "avril": 4, "abril": 4, "mai": 5, "mayo": 5, "juin": 6, "junio": 6,
    "juni": 6, "juillet": 7, "juli": 7, "julio": 7, "août": 8, "aout": 8, "agosto": 8,
    "septembre": 9, "septiembre": 9, "octobre": 10, "oktober": 10, "octubre": 10, "novembre": 11,
    "noviembre": 11, "dezember": 12, "décembre": 12, "diciembre": 12,
}  # fmt: skip
_SEASONS: Final = {"spring": 1, "summer": 2, "autumn": 3, "fall": 3, "winter": 4}
_EDTF = re.compile(
    r"(?P<year>-?\d{4}|-?\d{1,4}(?=$|[~?%])|y-?\d{5,7}|\d{2}[\dXxu][Xxu])"
    r"(?:-(?P<month>\d{2}|[Xxu]{2})(?:-(?P<day>\d{2}|[Xxu]{2}))?)?"
    r"(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?(?P<circa>[~?%]*)"
)
_SLASHED = re.compile(r"(\d{4})/(\d{0,2})/(\d{0,2})/?(.*)", re.DOTALL)
_YEARS = re.compile(r"(\d{4})\s*(?:--?|/|\u2013)\s*(\d{4})")
#: Characters of the longest text that is looked at as a date.
_MAX_TEXT: Final = 200
_WORD = re.compile(r"[^\W\d_]+")
#: The end of an open range, as citeproc-js has it.
_OPEN: Final = [0, 0, 0]


def parse_edtf(text: str) -> CslDate | None:
    """Returns the date of an EDTF text: `2016-12`, `1999/2000`, `1850~`, `199X`; None of others."""
    start, slash, end = text.strip().partition("/")
    if re.fullmatch(r"\d{4}", start) and re.fullmatch(r"\d\d", end) and end > start[2:]:
        end = start[:2] + end  # `2003/04`
    first = _parse_one(start)
    if not slash:
        return first
    last = _parse_one(end)
    if first is None or "season" in first:
        return None
    if last is None:
        if end.strip() not in {"", ".."}:
            return None
        return {**first, "date-parts": [first["date-parts"][0], list(_OPEN)]}
    circa = {"circa": True} if first.get("circa") or last.get("circa") else {}
    return {"date-parts": [first["date-parts"][0], last["date-parts"][-1]], **circa}


def _parse_one(text: str) -> CslDate | None:
    match = _EDTF.fullmatch(text.strip())
    if match is None:
        return None
    year = match["year"].removeprefix("y")
    circa = {"circa": True} if match["circa"] else {}
    if re.search("[Xxu]", year):
        low, high = (int(re.sub("[Xxu]", digit, year)) for digit in "09")
        return {"date-parts": [[low], [high]], **circa}
    parts = [int(year)]
    month, day = match["month"], match["day"]
    if month and month.isdigit():
        if 21 <= int(month) <= 24 and not day:
            return {"date-parts": [parts], "season": int(month) - 20, **circa}
        if not 1 <= int(month) <= 12:
            return {"date-parts": [parts], **circa} if month == "00" else None
        parts.append(int(month))
        if day and day.isdigit() and day != "00":
            if int(day) > 31:
                return None
            parts.append(int(day))
    return {"date-parts": [parts], **circa}


def parse_year(year: str, month: str = "", day: str = "") -> CslDate | None:
    """Returns the date of a year, with a month as a number, a word or both with a day.

    A year that is none becomes a literal date. None without a year.
    """
    year = year.strip()
    if not year:
        return None
    if len(year) > _MAX_TEXT:
        return {"literal": year}
    date = parse_edtf(year)
    years = _YEARS.fullmatch(year)
    if years:
        date = {"date-parts": [[int(years[1])], [int(years[2])]]}
    if date is None:
        about = re.fullmatch(r"(?:c|ca|circa)\.?\s*(\d{3,4})", year, re.IGNORECASE)
        if about:
            return {"date-parts": [[int(about[1])]], "circa": True}
        return {"literal": year}
    if len(date["date-parts"]) != 1 or len(date["date-parts"][0]) != 1 or "season" in date:
        return date
    return {**date, **_month(date["date-parts"][0][0], month.strip(), day.strip())}


def _month(year: int, month: str, day: str) -> CslDate:
    month = month[:_MAX_TEXT]
    season = _SEASONS.get(month.lower())
    if season:
        return {"date-parts": [[year]], "season": season}
    months = _months_in(month)
    numbers = [int(digits) for digits in re.findall(r"\d+", month)]
    if not months and len(numbers) == 1 and 1 <= numbers[0] <= 12:
        months, numbers = [numbers[0]], []
    elif not months and len(numbers) == 1 and 21 <= numbers[0] <= 24:
        return {"date-parts": [[year]], "season": numbers[0] - 20}
    if day.isdigit():
        numbers = [int(day)]
    days = [number for number in numbers if 1 <= number <= 31]
    if not months:
        return {"date-parts": [[year]]}
    if len(months) == 2:
        ends = days if len(days) == 2 else [0, 0]
        parts = [
            [year, *([number] if not end else [number, end])]
            for number, end in zip(months, ends, strict=True)
        ]
        if months[1] < months[0]:
            parts[1][0] = year + 1
        return {"date-parts": parts}
    if len(days) == 2 and days[0] < days[1]:
        return {"date-parts": [[year, months[0], number] for number in days]}
    return {"date-parts": [[year, months[0], *days[:1]]]}


def _months_in(text: str) -> list[int]:
    found = []
    for word in _WORD.findall(text.lower()):
        number = _OTHER_MONTHS.get(word)
        if number is None and word[:3] in _MONTHS and len(word) > 2:
            number = _MONTHS.index(word[:3]) + 1
        if number:
            found.append(number)
    return found


def parse_any(text: str) -> CslDate | None:
    """Returns a date as RIS, MEDLINE and EndNote write it: `2014/05/03/`, `2002 Sep 4`, `May 2003`.

    What has no year becomes a literal date; None for an empty text.
    """
    text = " ".join(text.split())
    if len(text) > _MAX_TEXT:
        return {"literal": text}
    date = parse_edtf(text)
    if date or not text.strip("/ "):
        return date
    slashed = _SLASHED.fullmatch(text)
    if slashed:
        year, month, day, rest = slashed.groups()
        extra = rest.strip(" /")
        found = parse_year(year, month if month not in {"", "00"} else extra, day)
        return found or None
    year_first = re.fullmatch(r"(\d{4})[\s,/.-]+(.+)", text)
    if year_first and not year_first[2][0].isdigit():
        return parse_year(year_first[1], year_first[2])
    numbers = re.fullmatch(r"(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?:[T ].*)?", text)
    if numbers:
        return parse_year(numbers[1], numbers[2], numbers[3] or "")
    year_last = re.fullmatch(r"(.*?)[\s,]+(\d{4})", text)
    if year_last:
        return parse_year(year_last[2], year_last[1])
    year_only = re.fullmatch(r"(\d{4})\D*", text)
    return parse_year(year_only[1]) if year_only else {"literal": text}


def date_of(value: object) -> CslDate | None:
    """Returns a date of an item as valid parts, season, circa or literal; None if it has none."""
    if not isinstance(value, dict):
        return parse_any(str(value)) if isinstance(value, str | int) and value else None
    raw_parts = value.get("date-parts") or [value.get(name) for name in ("year", "month", "day")]
    if isinstance(raw_parts, list) and raw_parts and not isinstance(raw_parts[0], list):
        raw_parts = [raw_parts]  # `[2019, 5]`
    parts = _valid_parts(raw_parts)
    if parts:
        date: CslDate = {"date-parts": parts}
        season = str(value.get("season") or "").lower()
        number = _SEASONS.get(season, int(season) if season.isdecimal() and len(season) < 3 else 0)
        number = number or _season_in(raw_parts)
        if 1 <= number <= 4 and len(parts) == 1:
            date["season"] = number
        if value.get("circa") not in {None, False, "", "0", "false"}:
            date["circa"] = True
        return date
    for name in ("raw", "edtf", "literal"):
        text = value.get(name)
        if isinstance(text, str) and text.strip():
            found = parse_any(text) if name != "literal" else None
            return found or {"literal": " ".join(text.split())}
    return None


def _season_in(parts: object) -> int:
    """Returns the season that EDTF's months 21 to 24 are; 0 for others."""
    first = parts[0] if isinstance(parts, list) and parts else None
    month = str(first[1]).strip() if isinstance(first, list) and len(first) > 1 else ""
    return int(month) - 20 if re.fullmatch("2[1-4]", month) else 0


def _valid_parts(value: object) -> list[list[int]]:
    found: list[list[int]] = []
    for raw_parts in value if isinstance(value, list) else ():
        numbers: list[int] = []
        for part in raw_parts if isinstance(raw_parts, list) else ():
            text = str(part).strip()
            if not re.fullmatch(r"-?\d{1,6}", text):
                break
            numbers.append(int(text))
        if numbers[:1] == [0] and found:
            numbers = list(_OPEN)
        elif len(numbers) > 1 and not 1 <= numbers[1] <= 12:
            numbers = numbers[:1]
        elif len(numbers) > 2 and not 1 <= numbers[2] <= 31:
            numbers = numbers[:2]
        if numbers:
            found.append(numbers[:3])
    return found[:2]


def edtf(date: CslDate) -> str:
    """Returns a date with parts as EDTF; empty for a literal one."""
    parts = date.get("date-parts")
    if not parts:
        return ""
    mark = "~" if date.get("circa") else ""
    if "season" in date:
        return f"{_edtf_year(parts[0][0])}-{20 + date['season']}{mark}"
    return "/".join("" if numbers == _OPEN else _edtf_one(numbers) + mark for numbers in parts)


def _edtf_one(parts: list[int]) -> str:
    return "-".join([_edtf_year(parts[0]), *(f"{part:02d}" for part in parts[1:])])


def _edtf_year(year: int) -> str:
    if abs(year) > 9999:
        return f"y{year}"
    return f"-{-year:04d}" if year < 0 else f"{year:04d}"


def is_plain(date: CslDate) -> bool:
    """Returns whether a date is one day, month or year, without doubt."""
    return len(date.get("date-parts", ())) == 1 and "season" not in date and "circa" not in date
