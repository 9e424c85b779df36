"""Controls that labs share: sliders over round values, so that a reading is the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import ipywidgets as widgets


def slider(
    description: str, values: Iterable[float], value: float, text: Callable[[float], str] = "{:,g}".format
) -> widgets.SelectionSlider:
    """A slider that stops at ``values`` only, each shown as ``text(value)``, starting at ``value``.

    A logarithmic slider of ipywidgets would round its value to a step, and to another one in the browser.
    """
    options = [(text(option), option) for option in values]
    return widgets.SelectionSlider(
        options=options, value=value, description=description, continuous_update=True
    )


def choice(description: str, options: Iterable, value: object = None) -> widgets.Dropdown:
    """A drop-down of names, or of (name, value) pairs."""
    options = list(options)
    chosen = {} if value is None else {"value": value}
    return widgets.Dropdown(options=options, description=description, **chosen)


def switch(description: str, value: bool = False) -> widgets.Checkbox:
    """A check box with its words beside it."""
    return widgets.Checkbox(value=value, description=description, indent=False)


def round_values(low: float, high: float, per_decade: Iterable[float] = (1, 2, 5)) -> list[float]:
    """1, 2, 5, 10, 20, … between ``low`` and ``high``, both included.

    >>> round_values(1, 50)
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
    """
    decades = range(-12, 16)
    values = [float(f"{factor}e{decade}") for decade in decades for factor in per_decade]
    return [value for value in values if low <= value <= high]
