"""What each part of a forecast can say."""

from __future__ import annotations

from typing import Any, Protocol

from reweight.forecasting.table import Table

__all__ = ["Part"]


class Part(Protocol):
    """A part of a forecast: its heading, its figures as text and as JSON, and what they assume."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Assumptions and limits of the figures, one sentence each."""

    def tables(self) -> tuple[Table, ...]:
        """The figures as text."""

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
