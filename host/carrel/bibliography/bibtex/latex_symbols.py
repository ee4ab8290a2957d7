# ruff: noqa: RUF001 - characters that look like others are what it lists
"""Lists the characters that LaTeX writes as commands."""

from __future__ import annotations

from typing import Final

#: Accent command → combining character.
ACCENTS: Final = {
    '"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "d": "\u0323",
    "b": "\u0331", "r": "\u030a", "k": "\u0328", "t": "\u0361", "U": "\u030e", "G": "\u030f",
    "f": "\u0311", "h": "\u0309", "textcommabelow": "\u0326", "textdotbelow": "\u0323",
    "textogonekcentered": "\u0328", "hat": "\u0302", "tilde": "\u0303", "bar": "\u0304",
    "dot": "\u0307", "ddot": "\u0308", "vec": "\u20d7", "check": "\u030c", "breve": "\u0306",
    "acute": "\u0301", "grave": "\u0300", "mathring": "\u030a", "overline": "\u0305",
    "newtie": "\u0311", "capitalring": "\u030a", "capitalcaron": "\u030c",
}  # fmt: skip

#: Command of a letter or sign → what it is.
SYMBOLS: Final = {
    "ss": "ß", "SS": "ẞ", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å",
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "dj": "đ",
    "DJ": "Đ", "th": "þ", "TH": "Þ", "ng": "ŋ", "NG": "Ŋ", "textturna": "ɐ", "textschwa": "ə",
    "copyright": "©", "textcopyright": "©", "textregistered": "®", "texttrademark": "™",
    "textservicemark": "℠", "pounds": "£", "textsterling": "£", "texteuro": "€", "euro": "€",
    "EUR": "€", "textyen": "¥", "yen": "¥", "textcent": "¢", "textdollar": "$", "S": "§", "P": "¶",
    "textsection": "§", "textparagraph": "¶", "dag": "†", "ddag": "‡", "textdagger": "†",
    "textdaggerdbl": "‡", "textbullet": "•", "textperiodcentered": "·", "textellipsis": "…",
    "ldots": "…", "dots": "…", "textendash": "–", "textemdash": "—", "textquoteleft": "‘",
    "textquoteright": "’", "textquotedblleft": "“", "textquotedblright": "”", "lq": "‘",
    "rq": "’", "textquotesingle": "'", "textquotedbl": '"', "quotesinglbase": "‚",
    "quotedblbase": "„", "glqq": "„", "grqq": "“", "glq": "‚", "grq": "‘", "flqq": "«",
    "frqq": "»", "flq": "‹", "frq": "›", "guillemotleft": "«", "guillemotright": "»",
    "guillemetleft": "«", "guillemetright": "»", "guilsinglleft": "‹", "guilsinglright": "›",
    "textexclamdown": "¡", "textquestiondown": "¿", "textinterrobang": "‽",
    "textinterrobangdown": "⸘", "textordfeminine": "ª", "textordmasculine": "º",
    "textdegree": "°", "degree": "°", "textcelsius": "℃", "textnumero": "№", "textmu": "µ",
    "textmicro": "µ", "textohm": "Ω", "textmho": "℧", "textestimated": "℮", "textperthousand": "‰",
    "textpertenthousand": "‱", "textonehalf": "½", "textonequarter": "¼",
    "textthreequarters": "¾", "textonesuperior": "¹", "texttwosuperior": "²",
    "textthreesuperior": "³", "textbackslash": "\\", "backslash": "\\", "textasciitilde": "~",
    "textasciicircum": "^", "textasciigrave": "`", "textasciiacute": "´", "textasciidieresis": "¨",
    "textasciimacron": "¯", "textunderscore": "_", "textless": "<", "textgreater": ">",
    "textbar": "|", "textbardbl": "‖", "textbraceleft": "{", "textbraceright": "}", "lbrace": "{",
    "rbrace": "}", "textlbrackdbl": "⟦", "textrbrackdbl": "⟧", "slash": "/", "textasteriskcentered":
    "*", "textvisiblespace": "␣", "textbrokenbar": "¦", "textlnot": "¬", "textpm": "±",
    "texttimes": "×", "textdiv": "÷", "textfractionsolidus": "⁄", "textminus": "−",
    "textleftarrow": "←", "textrightarrow": "→", "textuparrow": "↑", "textdownarrow": "↓",
    "textsurd": "√", "textmusicalnote": "♪", "textnbsp": "\u00a0", "nobreakspace": "\u00a0",
    "TeX": "TeX", "LaTeX": "LaTeX", "LaTeXe": "LaTeX2ε", "BibTeX": "BibTeX", "XeTeX": "XeTeX",
    "KOMAScript": "KOMA-Script", "textprime": "′", "textdoubleprime": "″",
    "textthorn": "þ", "textTHORN": "Þ", "textcrd": "đ", "textcrh": "ħ",
    "texthooktop": "ɓ", "textltailn": "ɲ", "textglotstop": "ʔ", "textbackprime": "‵",
    "textcurrency": "¤", "textflorin": "ƒ", "textbaht": "฿", "textwon": "₩", "textnaira": "₦",
    "textcolonmonetary": "₡", "textdong": "₫", "textlira": "₤", "textpeso": "₱",
    "checkmark": "✓", "textsubring": "\u0325", "hyp": "-", "hyphen": "-", "dash": "–", "Dash": "—",
    "textreferencemark": "※", "textopenbullet": "◦",
    "textbigcircle": "◯", "textlangle": "〈", "textrangle": "〉",
}  # fmt: skip

#: Command of mathematics → what it is; these also occur outside of formulas.
MATH_SYMBOLS: Final = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "ϑ", "iota": "ι", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "omicron": "ο", "pi": "π", "varpi": "ϖ",
    "rho": "ρ", "varrho": "ϱ", "sigma": "σ", "varsigma": "ς", "tau": "τ", "upsilon": "υ",
    "phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ",
    "Psi": "Ψ", "Omega": "Ω", "textalpha": "α", "textbeta": "β", "textgamma": "γ",
    "textdelta": "δ", "textepsilon": "ε", "textlambda": "λ", "textpi": "π", "textsigma": "σ",
    "textomega": "ω", "textkappa": "κ", "textGamma": "Γ", "textDelta": "Δ", "textOmega": "Ω",
    "times": "×", "div": "÷", "pm": "±", "mp": "∓", "cdot": "⋅", "ast": "∗", "star": "⋆",
    "circ": "∘", "bullet": "•", "oplus": "⊕", "otimes": "⊗", "leq": "≤", "le": "≤", "geq": "≥",
    "ge": "≥", "neq": "≠", "ne": "≠", "equiv": "≡", "approx": "≈", "sim": "∼", "simeq": "≃",
    "cong": "≅", "propto": "∝", "ll": "≪", "gg": "≫", "lesssim": "≲", "gtrsim": "≳", "in": "∈",
    "notin": "∉", "ni": "∋", "subset": "⊂", "supset": "⊃", "subseteq": "⊆", "supseteq": "⊇",
    "cup": "∪", "cap": "∩", "setminus": "∖", "emptyset": "∅", "varnothing": "∅", "forall": "∀",
    "exists": "∃", "neg": "¬", "lnot": "¬", "wedge": "∧", "land": "∧", "vee": "∨", "lor": "∨",
    "to": "→", "rightarrow": "→", "leftarrow": "←", "leftrightarrow": "↔", "Rightarrow": "⇒",
    "Leftarrow": "⇐", "Leftrightarrow": "⇔", "uparrow": "↑", "downarrow": "↓", "mapsto": "↦",
    "longrightarrow": "⟶", "longleftarrow": "⟵", "rightleftharpoons": "⇌", "infty": "∞",
    "partial": "∂", "nabla": "∇", "sum": "∑", "prod": "∏", "int": "∫", "oint": "∮", "surd": "√",
    "ell": "ℓ", "hbar": "ℏ", "Re": "ℜ", "Im": "ℑ", "aleph": "ℵ", "angle": "∠", "perp": "⊥",
    "parallel": "∥", "mid": "∣", "vert": "|", "Vert": "‖", "langle": "⟨", "rangle": "⟩",
    "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "prime": "′", "cdots": "⋯",
    "vdots": "⋮", "ddots": "⋱", "triangle": "△", "square": "□", "Box": "□", "diamond": "⋄",
    "clubsuit": "♣", "diamondsuit": "♢", "heartsuit": "♡", "spadesuit": "♠", "sharp": "♯",
    "flat": "♭", "natural": "♮", "lbrack": "[", "rbrack": "]", "colon": ":", "therefore": "∴",
    "because": "∵", "top": "⊤", "bot": "⊥", "vdash": "⊢", "models": "⊨", "dagger": "†",
    "ddagger": "‡", "odot": "⊙", "asymp": "≍", "doteq": "≐", "prec": "≺",
    "succ": "≻", "preceq": "⪯", "succeq": "⪰", "sqsubseteq": "⊑", "bowtie": "⋈", "wp": "℘",
    "varkappa": "ϰ", "digamma": "ϝ", "complement": "∁", "nexists": "∄", "blacksquare": "■",
    "lhd": "⊲", "rhd": "⊳", "leadsto": "⇝", "hookrightarrow": "↪", "rightharpoonup": "⇀",
    "lesseqgtr": "⋚", "leqslant": "⩽", "geqslant": "⩾", "degree": "°",
}  # fmt: skip
