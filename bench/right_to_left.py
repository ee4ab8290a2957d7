"""Makes PDF files with right-to-left text, which a browser typesets, and their truth.

The corpus has few such files, and none with a reference text. The paragraphs are invented. Each
language is typeset in one column and in two.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
_TIMEOUT: Final = 60

#: Language tag → paragraphs, with numbers and words in Latin script among them.
PARAGRAPHS: Final = {
    "he": (
        "הספרייה פתוחה לקהל בימים ראשון עד חמישי, משעה 9 בבוקר עד 18 בערב.",
        "החוקרים אספו 245 מאמרים שפורסמו בין 1998 ל-2021 ובדקו כל אחד מהם פעמיים.",
        "המסמך נכתב בפורמט PDF ונקרא בתוכנה קטנה שאינה מחוברת לרשת.",
        "בסוף העבודה מצאו הכותבים כי שיטת המדידה החדשה מדויקת יותר מן הישנה.",
        "הערות הקוראים נשמרו לצד הטקסט, כדי שאפשר יהיה לחזור אליהן בעתיד.",
    ),
    "ar": (
        "تفتح المكتبة أبوابها للقراء كل يوم من الساعة 9 صباحا حتى 18 مساء.",
        "جمع الباحثون 245 مقالة نشرت بين عامي 1998 و 2021 ثم راجعوا كل واحدة منها مرتين.",
        "كتبت هذه الوثيقة بصيغة PDF ويقرؤها برنامج صغير لا يتصل بالشبكة.",
        "وجد المؤلفون في نهاية العمل أن طريقة القياس الجديدة أدق من الطريقة القديمة.",
        "حفظت ملاحظات القراء بجانب النص حتى يمكن الرجوع إليها في المستقبل.",
    ),
    "fa": (
        "کتابخانه هر روز از ساعت 9 صبح تا 18 برای خوانندگان باز است.",
        "پژوهشگران 245 مقاله را که بین سال های 1998 و 2021 منتشر شده بود گردآوری کردند.",
        "این سند در قالب PDF نوشته شده است و برنامه ای کوچک آن را می خواند.",
        "نویسندگان در پایان کار دریافتند که روش تازه اندازه گیری دقیق تر از روش پیشین است.",
        "یادداشت های خوانندگان در کنار متن نگه داشته شد تا بتوان به آنها بازگشت.",
    ),
}

_PAGE: Final = """<!doctype html><html lang="{language}" dir="rtl"><meta charset="utf-8">
<style>body {{ font: 12pt "DejaVu Sans"; columns: {columns}; }}</style><body>{paragraphs}</body>"""


def make(folder: Path) -> dict[Path, str]:
    """Returns PDF files in `folder` with the text of each; none without a browser."""
    browser = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        return {}
    made = {}
    for language, paragraphs in PARAGRAPHS.items():
        for columns in (1, 2):
            page = folder / f"{language}-{columns}.html"
            body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
            text = _PAGE.format(language=language, columns=columns, paragraphs=body)
            page.write_text(text, "utf-8")
            made[_typeset(browser, page)] = "\n".join(paragraphs)
    return made


def _typeset(browser: str, page: Path) -> Path:
    """Returns the PDF file that the browser makes of a page."""
    pdf = page.with_suffix(".pdf")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
                f"--user-data-dir={profile}", f"--print-to-pdf={pdf}", page.as_uri(),
            ],
            check=True, capture_output=True, timeout=_TIMEOUT,
        )  # fmt: skip
    return pdf
