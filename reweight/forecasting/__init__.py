"""Forecasts from base rollouts: dead groups, signal, pass@k and discovery, before a run is started."""

from __future__ import annotations

from reweight.forecasting.quantity import Quantity
from reweight.forecasting.result import Forecast

__all__ = ["Forecast", "Quantity"]
