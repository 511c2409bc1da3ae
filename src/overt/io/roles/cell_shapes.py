# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/roles/test_roles.py
"""What cells look like: addresses, telephone numbers, names, codes and prose are known by their shape, whatever the header says.

Every rule looks at texts one by one; a column has a shape if most of its different texts have it.
"""

import re
from collections.abc import Callable
from enum import Enum

import numpy as np
import polars as pl

from overt.io.roles.given_names import GIVEN_NAMES, SURNAMES
from overt.io.roles.plain_text import plain_texts


class Shape(Enum):
    """What the cells of a column look like."""

    EMAIL = "look like e-mail addresses"
    UUID = "look like universally unique ids"
    LINK = "look like addresses of the internet or of devices"
    ACCOUNT = "look like bank accounts or cards, with the right check digits"
    PHONE = "look like telephone numbers"
    ADDRESS = "look like postal addresses"
    TITLED = "begin with titles, as people's names do"
    FULL_NAMES = "look like people's full names"
    NAMES = "look like people's names"
    LIKE_NAMES = "are built as people's names are"
    TEXT = "are free text, which may say anything"
    COORDINATES = "look like coordinates"
    DIAGNOSES = "look like codes of diagnoses"
    MEDICINES = "look like codes of medicines"


MOST_TEXTS = 2_000  # that are looked at
MOST = 0.9  # the share of texts that must have a shape
_EMAIL = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
_UUID = r"^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$"
_LINK = r"^(?:https?://\S+|www\.\S+|\d{1,3}(?:\.\d{1,3}){3}|(?:[0-9a-fA-F]{1,4}:){5,7}[0-9a-fA-F:]+|(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2})$"
_PHONE = r"^\(?\+?\d[\d ()/.x-]{5,}\d(?: ?(?:ext\.?|x) ?\d+)?$"
_PHONE_MARK = r"^\+|^00\d|^\(|\d[ ()/x-]+\d"
_NAME = r"^\p{Lu}[\p{L}'’.-]*(?:[ ,]+(?:\p{L}[\p{L}'’.-]*|\d?))*$"
_TITLE = (
    r"^(?:(?:Dr|Prof|PD|Mr|Mrs|Ms|Miss|Mx|Sir|Rev|Herrn?|Frau|Hr|Fr|Fru|MM|Mme|Mlle|Sr|Sra|Srta|Do[ñn]a|Sig|Sig\.ra|Dott|Dott\.ssa|Dhr|Mw|Mevr|"
    r"Bay|Bayan|[Pp]an|[Pp]ani|CPA)\b\.?|M\.)(?: ?(?:Dr|Prof|med|univ|Dipl)\b\.?)* \p{Lu}[\p{L}'’-]*(?:[ -]\p{L}[\p{L}'’.-]*){0,3}$"
)
_STREET = (
    r"(?i)\b(street|st|road|rd|avenue|ave|lane|ln|drive|dr|court|ct|square|boulevard|blvd|way|apt|suite|po box|rue|av|all[ée]e|chemin|impasse|quai|via|viale|vicolo|piazza|corso|"
    r"strada|calle|avenida|avda|paseo|plaza|c/|rua|r\.|travessa|largo|alameda|pra[çc]a|ul|ulica|aleja|cad|caddesi|sok|sokak|mah|mahallesi|bulvar[ıi]|apt\.?|gatan|gata)\b"
    r"|(stra(ß|ss)e|str\.|weg|platz|allee|gasse|ring|damm|ufer|straat|laan|plein|gracht|kade|steeg|dijk|hof|singel|v[äa]gen|gatan|vej|gade)\b"
)
_DIAGNOSIS = r"^[A-TV-Z]\d[0-9A-Z](?:\.[0-9A-Z]{1,4})?[+*!]?$"
_DIAGNOSIS_WITHOUT_POINT = r"^[A-TV-Z]\d[0-9AB]\d{1,2}[0-9A-Z]{0,2}$"
_MEDICINE = r"^[A-V]\d{2}[A-Z]{2}\d{2}$"
_COORDINATE = r"^-?\d{1,3}\.\d{4,}(?:[,; ]+-?\d{1,3}\.\d{4,})?$"
_LIKE_NAME = (  # two to four words that begin with capitals (or have none, as in Arabic), and particles between them
    r"^[\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]*,?(?: (?:de|da|do|dos|das|del|della|di|du|la|le|van|von|der|den|ten|ter|zu|zur|bin|ibn|al|el|bint|[\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]*)){1,4}$"
    r"|^\p{L}[\p{L}'’-]+, ?\p{L}[\p{L}'’-]+(?: \p{L}[\p{L}'’.-]*)?$"
)
_CAPITALIZED = r"^\p{Lu}[\p{L}'’-]+(?:[ -]\p{Lu}[\p{L}'’-]+)?\.?$"
_SURNAME_ENDING = (  # of many languages
    r"(?:ovic|evic|ski|ska|cki|cka|wicz|czyk|czak|iak|ova|enko|yev|iyev|ov|oglu|sson|sdotter|sdottir|nen|escu|eanu|poulos|idis|akis|adze|shvili|yan|aitis|auskas|aite|iene|auskiene|mann|meier|meyer|maier|etti|ucci|elli|guez|ndez|nchez|inez)$"
)
_CHINESE_SURNAME = r"^[王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾肖田董袁潘于蒋蔡余杜叶葉程苏蘇魏吕呂丁任沈姚卢盧姜崔钟鐘谭譚陆陸汪范金石廖贾賈夏韦韋付方白邹鄒孟熊秦邱江尹薛阎段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤佐藤鈴木高橋田中渡辺伊山本加吉小김이박최정강조윤장임한오서신권황안송전홍유고문양손배백허남심노하곽성차주우구민류나진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모]\p{L}{1,3}(?: \p{L}{1,3})?$"
_WORDS_OF_PROSE = 5
_LONG_TEXT = 40


def shape_of(texts: pl.Series) -> Shape | None:
    """The shape that most of some different texts have; None if there is none that is known."""
    texts = texts.drop_nulls().str.strip_chars()
    texts = texts.filter(texts != "")
    if len(texts) > MOST_TEXTS:
        texts = texts.gather(np.linspace(0, len(texts) - 1, MOST_TEXTS).astype(np.int64))
    if not len(texts):
        return None
    return next((shape for shape, has in _SHAPES.items() if has(texts)), None)


def are_capitalized(texts: pl.Series) -> bool:
    """Whether nearly all texts are one or two words that begin with capitals, as surnames do, and have no digits."""
    return _share(texts.str.strip_chars(), _CAPITALIZED) >= MOST


def begin_with_first_names(texts: pl.Series) -> bool:
    """Whether most texts of several words begin with a known first name, or end with one behind a comma: towns and trades seldom do."""
    words = plain_texts(texts).str.extract_all(r"\p{L}{2,}|,").to_list()
    first = [[word for word in found if word != ","][-1 if "," in found else 0] if found else "" for found in words]
    several = _share(texts, r"\p{L}[ ,]+\p{L}") >= MOST
    return several and float(np.mean([word in GIVEN_NAMES for word in first])) >= 0.6


def _share(texts: pl.Series, pattern: str) -> float:
    return float(texts.str.contains(pattern).mean() or 0.0)  # type: ignore[arg-type]


def _matching(pattern: str, least: float = MOST) -> Callable[[pl.Series], bool]:
    return lambda texts: _share(texts, pattern) >= least


def _are_accounts(texts: pl.Series) -> bool:
    compact = texts.str.replace_all(r"[ -]", "")
    if _share(compact, r"^(?:[A-Z]{2}\d{2}[A-Z0-9]{10,30}|\d{13,19})$") < MOST:
        return False
    return float(np.mean([_has_check_digits(text) for text in compact.to_list()])) >= MOST


def _has_check_digits(text: str) -> bool:
    """ISO 13616 (an IBAN is 1 modulo 97, letters as 10 to 35) or the sum of Luhn (ISO/IEC 7812) for cards."""
    if text[:1].isalpha():
        return int("".join(str(int(c, 36)) for c in text[4:] + text[:4])) % 97 == 1
    doubled = [int(c) * (1 + place % 2) for place, c in enumerate(reversed(text))] if text.isdigit() else [1]
    return sum(n // 10 + n % 10 for n in doubled) % 10 == 0


def _are_phones(texts: pl.Series) -> bool:
    n_digits = texts.str.count_matches(r"\d")
    is_one = texts.str.contains(_PHONE) & n_digits.is_between(7, 17)
    return float(is_one.mean() or 0) >= MOST and _share(texts, _PHONE_MARK) >= 0.6  # type: ignore[arg-type]


def _are_addresses(texts: pl.Series) -> bool:
    return _share(texts, r"\d") >= 0.6 and _share(texts, _STREET) >= 0.5 and _share(texts, r"\p{L}{3,}") >= MOST


def _are_full_names(texts: pl.Series) -> bool:
    """A known first name beside one or two other words, with or without a comma."""
    if _share(texts, _NAME) < 0.75 or _share(texts, r"\d") > 0.1:
        return False
    words = plain_texts(texts).str.extract_all(r"\p{L}{2,}").to_list()
    is_full = [2 <= len(found) <= 4 and any(word in GIVEN_NAMES for word in (found[0], found[-1])) for found in words]
    return float(np.mean(is_full)) >= 0.4


def _are_names(texts: pl.Series) -> bool:
    if _share(texts, _NAME) < 0.85 or _share(texts, r"\d") > 0.1:
        return False
    words = plain_texts(texts).str.extract_all(r"\p{L}+")
    known = GIVEN_NAMES | SURNAMES
    named = [any(word in known for word in found) for found in words.to_list()]
    given = [any(word in GIVEN_NAMES for word in found) for found in words.to_list()]
    if len(texts) < 5:  # a few words are names of towns as well, a few full names are not
        return all(given) and all(len(found) > 1 for found in words.to_list())
    return float(np.mean(given)) >= 0.3 or float(np.mean(named)) >= (0.3 if len(texts) >= 20 else 0.6)


def _are_like_names(texts: pl.Series) -> bool:
    """Whether texts are built as names are, in a language whose names nobody listed: some twenty of them, with words that vary at both ends."""
    if len(texts) <= 20 or _share(texts, r"\d") > 0.02:
        return False
    if _share(plain_texts(texts), _SURNAME_ENDING) >= 0.3 or _share(texts, _CHINESE_SURNAME) >= 0.6:
        return True
    if _share(texts, _LIKE_NAME) < 0.75:
        return False
    words = texts.str.to_lowercase().str.extract_all(r"[\p{L}\p{M}'’-]+")
    least, most = sorted([words.list.first().n_unique(), words.list.last().n_unique()])
    few = min(len(texts), 100)
    return most >= 0.5 * few and least >= 0.25 * few


def _are_prose(texts: pl.Series) -> bool:
    if len(texts) <= 20:
        return False
    n_words = float(texts.str.count_matches(r"\p{L}{2,}").mean() or 0)  # type: ignore[arg-type]
    n_letters = float(texts.str.len_chars().mean() or 0)  # type: ignore[arg-type]
    return n_words >= _WORDS_OF_PROSE or (n_letters > _LONG_TEXT and n_words > 1)


def _are_diagnoses(texts: pl.Series) -> bool:
    if _share(texts, _DIAGNOSIS) >= MOST and _share(texts, r"\.") >= 0.3:
        return True
    n_chapters = texts.str.slice(
        0, 1
    ).n_unique()  # without the point other codes look alike, which seldom begin with many letters
    return n_chapters >= 4 and _share(texts, _DIAGNOSIS_WITHOUT_POINT) >= MOST


def _are_coordinates(texts: pl.Series) -> bool:
    if len(texts) <= 20 or _share(texts, _COORDINATE) < MOST:
        return False
    return all(abs(float(part)) <= 180 for text in texts.to_list() for part in re.findall(r"-?\d+\.\d+", text)[:2])


_SHAPES: dict[Shape, Callable[[pl.Series], bool]] = {
    Shape.EMAIL: _matching(_EMAIL, 0.8),
    Shape.UUID: _matching(_UUID),
    Shape.LINK: _matching(_LINK),
    Shape.ACCOUNT: _are_accounts,
    Shape.PHONE: _are_phones,
    Shape.ADDRESS: _are_addresses,
    Shape.TITLED: _matching(_TITLE, 0.6),
    Shape.FULL_NAMES: _are_full_names,
    Shape.NAMES: _are_names,
    Shape.TEXT: _are_prose,
    Shape.COORDINATES: _are_coordinates,
    Shape.MEDICINES: _matching(_MEDICINE),
    Shape.DIAGNOSES: _are_diagnoses,
    Shape.LIKE_NAMES: _are_like_names,
}
