"""Saved questions: SQL over the tables of a dataset, in the words that DuckDB, Spark and DataFusion share."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Question:
    """A file of `questions/`: its name, the sentence of its first line, and its SQL."""

    name: str
    sentence: str
    sql: str


def saved_questions() -> tuple[Question, ...]:
    """All saved questions by name. Run one after `Dataset.create_views`: `spark.sql(question.sql)`."""
    found = []
    for file in files("rocescope_fleet").joinpath("questions").iterdir():
        if file.name.endswith(".sql"):
            sql = file.read_text(encoding="utf-8")
            first, _, _ = sql.partition("\n")
            found.append(Question(file.name.removesuffix(".sql"), first.removeprefix("--").strip(), sql))
    return tuple(sorted(found, key=lambda question: question.name))
