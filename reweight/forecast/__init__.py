"""Forecasts from base rollouts: dead groups, signal, pass@k and discovery, before a run is started."""

from __future__ import annotations

from reweight.forecast.forecasting import forecast
from reweight.forecast.quantity import Quantity
from reweight.forecast.result import Forecast

__all__ = ["Forecast", "Quantity", "forecast"]
