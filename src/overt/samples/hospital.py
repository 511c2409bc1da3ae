# SPDX-License-Identifier: Apache-2.0
"""A small hospital table for demos and docs. Every person in it is invented.

96 admissions of one year, ten diseases. The most frequent disease has 15 rows, so l up to 6 can be asked for.
"""

import io
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from overt.hierarchy import Builder


def hospital() -> pl.DataFrame:
    """Name, Birth date, Postcode, Sex, Admission, Disease: always the same 96 rows.

    >>> hospital().columns
    ['Name', 'Birth date', 'Postcode', 'Sex', 'Admission', 'Disease']
    """
    return pl.read_csv(
        io.StringIO(ADMISSIONS),
        schema={
            "Name": pl.String,
            "Birth date": pl.Date,
            "Postcode": pl.String,  # a number one cannot add up
            "Sex": pl.String,
            "Admission": pl.Date,
            "Disease": pl.String,
        },
    )


def hospital_hierarchies() -> dict[str, "Builder"]:
    """Builders of hierarchies for columns of `hospital`, by column name.

    >>> sorted(hospital_hierarchies())
    ['Admission', 'Birth date', 'Disease', 'Postcode']
    """
    from overt.hierarchy import Dates, Nested, Prefixes

    return {
        "Birth date": Dates(units=("month", "year", "decade")),
        "Postcode": Prefixes(lengths=(4, 3, 2)),
        "Admission": Dates(units=("month", "quarter", "year")),
        "Disease": Nested(DISEASES),
    }


DISEASES = {
    "Airways": ("Asthma", "Bronchitis", "Influenza", "Pneumonia"),
    "Digestion": ("Appendicitis", "Gastritis", "Hepatitis"),
    "Long-term": ("Diabetes", "Hypertension", "Migraine"),
}

ADMISSIONS = """\
Name,Birth date,Postcode,Sex,Admission,Disease
Bruno Vogel,2000-11-05,53227,male,2025-01-03,Migraine
Sofia Reyes,2004-02-20,53173,female,2025-01-06,Appendicitis
Pavel Horvat,1982-08-17,53175,male,2025-01-13,Influenza
Livia Riedel,1986-07-22,53229,female,2025-01-15,Influenza
Olga Weber,1995-06-08,50733,female,2025-01-16,Gastritis
Nora Dahl,1978-08-14,53177,female,2025-01-20,Migraine
Adem Jelinek,1987-07-21,50733,male,2025-01-24,Influenza
Amara Abel,1978-04-18,53113,female,2025-01-28,Influenza
Kofi Larkin,1976-01-24,53123,male,2025-01-31,Bronchitis
Bruno Fontaine,2005-12-28,53117,male,2025-02-01,Influenza
Amara Kaya,2014-08-08,53113,female,2025-02-02,Migraine
Niklas Dahl,1970-06-11,53127,male,2025-02-02,Influenza
Arne Hadley,1957-10-03,50667,male,2025-02-03,Hypertension
Magnus Ibarra,1949-09-04,53117,male,2025-02-06,Pneumonia
Jonas Conti,1956-02-16,53125,male,2025-02-08,Bronchitis
Idris Demir,2004-06-19,53111,male,2025-02-09,Influenza
Sabine Conti,1989-02-16,50735,female,2025-02-11,Gastritis
Julia Petit,1961-12-17,50668,female,2025-02-13,Gastritis
Stefan Keller,1957-07-30,53227,male,2025-02-14,Diabetes
Imani Riedel,1954-08-11,53229,female,2025-02-19,Pneumonia
Jonas Rossi,1980-02-07,50676,male,2025-02-23,Influenza
Marek Nilsen,1952-04-08,53229,male,2025-02-25,Hypertension
Maren Novak,1959-10-30,53125,female,2025-02-26,Influenza
Emil Ibarra,1972-09-17,53125,male,2025-02-27,Influenza
Sabine Rossi,1977-12-01,50733,female,2025-02-27,Influenza
Georg Marsh,1999-03-23,53227,male,2025-03-01,Asthma
Selma Molnar,1981-01-03,50737,female,2025-03-05,Influenza
Salma Adler,1974-02-02,53113,female,2025-03-09,Influenza
Adem Castro,1977-02-25,53227,male,2025-03-14,Influenza
Ines Lang,1973-01-25,50735,female,2025-03-14,Diabetes
Kofi Weber,2005-04-08,53123,male,2025-03-17,Influenza
Hakim Winter,1977-02-05,53119,male,2025-03-31,Bronchitis
Hana Palmer,1961-06-11,50733,female,2025-04-03,Hypertension
Dario Ibarra,1936-02-28,53125,male,2025-04-05,Pneumonia
Salma Larkin,1962-03-23,50735,female,2025-04-08,Bronchitis
Enzo Kaya,1950-02-19,53119,male,2025-04-10,Pneumonia
Ravi Lind,1990-11-21,53229,male,2025-04-12,Gastritis
Anton Jansen,1962-09-01,53173,male,2025-04-13,Diabetes
Anneli Gallo,1976-08-14,53173,female,2025-04-20,Bronchitis
Leon Marsh,1960-07-30,53227,male,2025-04-20,Diabetes
Greta Riedel,1979-10-26,53177,female,2025-04-23,Gastritis
Mina Aksoy,1975-12-24,53117,female,2025-04-28,Gastritis
Dalia Egger,1993-05-12,50667,female,2025-05-02,Appendicitis
Hugo Petit,1959-11-14,50668,male,2025-05-06,Hypertension
Jorge Maier,1980-08-30,50668,male,2025-05-07,Hypertension
Anneli Weber,1979-05-03,53227,female,2025-05-11,Bronchitis
Albert Castro,1966-03-28,53117,male,2025-05-22,Diabetes
Mina Conti,1949-04-19,53125,female,2025-05-24,Bronchitis
Mina Castro,1977-06-13,53119,female,2025-06-09,Gastritis
Ivana York,1991-05-15,53111,female,2025-06-14,Migraine
Tomas Stone,1979-02-08,53113,male,2025-06-14,Diabetes
Anton Diaz,1933-07-20,50667,male,2025-06-17,Pneumonia
Imani Sauer,1989-07-18,50676,female,2025-06-19,Gastritis
Leila Vogel,1957-08-26,53177,female,2025-06-25,Diabetes
Olga Hadley,1979-12-04,50667,female,2025-06-25,Gastritis
Amara Toth,1953-12-25,53175,female,2025-07-03,Bronchitis
Oskar Nagy,1997-09-29,53175,male,2025-07-07,Hepatitis
Georg Adler,1999-06-04,53119,male,2025-07-08,Gastritis
Ada Rahimi,1974-11-15,50667,female,2025-07-10,Bronchitis
Leila Haas,1975-08-30,53123,female,2025-07-17,Hepatitis
Karl Horvat,1990-04-16,53123,male,2025-07-27,Asthma
Sofia Fontaine,1978-08-21,53125,female,2025-07-27,Diabetes
Freya Horvat,2012-08-20,53225,female,2025-07-28,Asthma
Leon Dahl,1967-01-25,53117,male,2025-08-04,Bronchitis
Maja Varga,1973-05-26,50672,female,2025-08-04,Hepatitis
Magnus Petit,1946-04-18,50733,male,2025-08-09,Pneumonia
Julia Moreau,1989-02-21,53111,female,2025-08-29,Asthma
Vera Adler,1963-10-01,53113,female,2025-08-30,Diabetes
Marek Sousa,1981-10-24,53115,male,2025-09-10,Migraine
Livia Amadi,1993-10-21,53111,female,2025-09-13,Gastritis
Milan Winter,1963-11-11,53123,male,2025-09-14,Diabetes
Nadia Farrow,1953-11-16,53173,female,2025-09-19,Hypertension
Paula Becker,1967-07-25,50674,female,2025-09-22,Hypertension
Ivana Gallo,2005-09-26,53173,female,2025-10-06,Migraine
Bianca Stone,1980-07-07,53113,female,2025-10-07,Gastritis
Gustav Ortiz,1998-10-04,50672,male,2025-10-09,Appendicitis
Mara Wolf,1978-05-29,50674,female,2025-10-14,Migraine
Tamar Sand,2019-04-04,50674,female,2025-10-19,Appendicitis
Vera Sand,2001-11-03,53125,female,2025-10-19,Asthma
Jakob Wolf,1981-03-09,53115,male,2025-10-20,Bronchitis
Ravi Winter,1995-03-13,50676,male,2025-10-27,Bronchitis
Jorge Ibarra,1984-03-25,53117,male,2025-11-06,Asthma
Freya Sand,1964-12-16,53111,female,2025-11-18,Pneumonia
Leila Horvat,1963-03-20,53175,female,2025-11-18,Bronchitis
Paula Jelinek,1984-09-30,50735,female,2025-11-20,Hypertension
Adem Reyes,1967-07-31,50672,male,2025-11-21,Hypertension
Erik Diaz,1980-03-04,53125,male,2025-11-25,Migraine
Selma Sousa,1998-02-09,50674,female,2025-11-27,Hepatitis
Hana Maier,1966-06-03,53177,female,2025-12-08,Asthma
Georg Nagy,2002-07-15,50733,male,2025-12-10,Migraine
Esther Mehta,1956-02-18,50676,female,2025-12-11,Pneumonia
Oskar Becker,1979-12-29,53173,male,2025-12-14,Diabetes
Paula Okoro,1999-03-13,50668,female,2025-12-18,Migraine
Imani Fischer,1952-01-12,53113,female,2025-12-26,Hypertension
Rafael Kaya,1986-03-03,53227,male,2025-12-26,Appendicitis
Jakob Eklund,1945-09-16,50735,male,2025-12-27,Pneumonia
"""
