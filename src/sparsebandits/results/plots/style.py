"""One style for all figures, legible to colour-blind readers (Okabe and Ito 2008) and in black and white.

Each policy has a colour, a dash pattern and, from the eighth policy on, a marker, so that policies can be told apart
without colour. They are assigned in the order in which policies are named, so a policy looks the same in all figures of
a result. "ESTC, tuned" is a variant of "ESTC": it has the same colour, and a marker. Figures ignore the user's
Matplotlib settings: the same data give the same bytes.
"""

import io
import os
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, shown
from sparsebandits.files import write_atomically

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
PALE = "#B5DAF0"
"""Colour of areas on which lines of any colour stand out."""

DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1, 1)),
    (0, (5, 1, 1, 1)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (8, 2)),
    (0, (2, 2)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
OF_VARIANTS = ("*", "d", "<", ">", "p", "h", "8")
"""Markers of variants, which no other policy has."""

SCREEN = 96
"""Pixels per inch of a figure in a notebook."""

TICKS: dict[str, Any] = {"nbins": 7, "steps": [1, 2, 5, 10]}
"""Settings of a ``MaxNLocator``."""

BELOW: dict[str, Any] = {
    "loc": "upper center",
    "bbox_to_anchor": (0.5, 0.0),
    "borderaxespad": 4.4,
    "ncols": 3,
    "frameon": False,
    "fontsize": 8,
    "columnspacing": 1.4,
}
"""Where the legend of an axes goes: below the axes and their label, where it covers nothing."""

Target: TypeAlias = str | os.PathLike[str] | BinaryIO
"""Where a figure goes: a file name that ends in .png, .svg or .pdf, or a file open for writing, which gets SVG."""


@dataclass(frozen=True)
class Look:
    """How one policy is drawn; ``marker`` is for curves (empty for the first seven), ``point`` for single points."""

    colour: str
    dashes: Any
    marker: str
    point: str

    @property
    def pale(self) -> str:
        """A lighter shade for areas, on which black lines stand out."""
        red, green, blue = to_rgb(self.colour)
        return to_hex((0.5 + 0.5 * red, 0.5 + 0.5 * green, 0.5 + 0.5 * blue))


def looks(names: Iterable[str]) -> dict[str, Look]:
    """Return the look of each policy by its position among the names.

    A name that begins with another one and a comma is that of a variant. It has the colour of the other policy, and a
    marker, which is the same for this variant of all policies.

    Examples
    --------
    >>> look = looks(["sparse IDS", "sparse TS", "sparse IDS, randomised"])
    >>> look["sparse IDS, randomised"].colour == look["sparse IDS"].colour != look["sparse TS"].colour
    True
    """
    every, count = list(names), len(COLOURS)
    split = {name: _variant(name, every) for name in every}
    policies = list(dict.fromkeys(policy for policy, _ in split.values()))
    variants = list(dict.fromkeys(variant for _, variant in split.values() if variant))
    found = {}
    for name, (policy, variant) in split.items():
        again, i = divmod(policies.index(policy), count)
        if variant:
            k = variants.index(variant)
            marker = point = OF_VARIANTS[k % len(OF_VARIANTS)]
            dashes = DASHES[(i + again + k + 1) % count]
        else:
            marker = MARKERS[(again - 1) % count] if again else ""
            point = MARKERS[(i + 2 * again) % count]  # no two have the same dashes and the same point
            dashes = DASHES[(i + again) % count]
        found[name] = Look(COLOURS[i], dashes, marker, point)
    return found


def _variant(name: str, names: Iterable[str]) -> tuple[str, str]:
    """Return the policy of which this is a variant, the shortest if there are several, and what kind of variant."""
    policy = min((other for other in names if name.startswith(f"{other}, ")), key=len, default=name)
    return policy, name[len(policy) :]


@contextmanager
def house_style() -> Iterator[None]:
    """Replace the user's Matplotlib settings while a figure is drawn; also a decorator."""
    ours = {"svg.hashsalt": "sparsebandits", "hatch.linewidth": 0.6, "axes.titlesize": 10, "figure.dpi": 200}
    with style.context(["default", ours]):
        yield


class Drawing(Figure):
    """A figure that a notebook shows as it is; of others it shows the picture only once pyplot has been imported."""

    @house_style()
    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        content = io.BytesIO()
        self.savefig(content, format="png")
        width, height = (round(SCREEN * inches) for inches in self.get_size_inches())
        return content.getvalue(), {"width": width, "height": height}


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, with constrained layout."""
    figure = Drawing(figsize=(width, height), dpi=200, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def axes_in(ax: Axes | None, width: float, height: float) -> tuple[Figure, Axes]:
    """Return the axes that were given, with their figure, or those of a new figure of a size in inches."""
    if ax is None:
        figure = new_figure(width, height)
        figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
        return figure, figure.add_subplot()
    if not isinstance(ax, Axes):
        raise ArgumentTypeError("ax", "axes to draw in, or None", shown(ax))
    root: Any = ax.figure
    return root.figure, ax  # of a subfigure, the figure that it is a part of


def short(name: str, width: int = 28) -> str:
    """Return a name, without its middle if it is longer than three lines of this width."""
    return name if len(name) <= 3 * width else f"{name[: 2 * width - 6]}…{name[6 - width :]}"


def named(names: Sequence[str], width: int = 28) -> list[str]:
    """Return names as labels beside rows: lines of at most ``width``, very long names without their middle.

    Names that would then be the same stay whole.
    """
    cut = [short(name, width) for name in names]
    kept = cut if len(set(cut)) == len(set(names)) else names
    return [plain(name, width) or " " for name in kept]


def height_of(labels: Sequence[str], least: int = 3) -> float:
    """Return the height in inches of rows with these labels, which may have several lines."""
    lines = max((label.count("\n") + 1 for label in labels), default=1)
    return max(len(labels), least) * max(0.26, 0.14 * lines + 0.06)


def plain(text: str, width: int = 60) -> str:
    """Return ``text`` to be drawn literally, not as mathematics, in lines of at most ``width`` characters."""
    drawable = "".join(c if c.isprintable() or c.isspace() or ord(c) > 0x9F else "\ufffd" for c in text)
    return "\n".join(textwrap.wrap(drawable, width)).replace("$", r"\$")


def labelled(trials: Mapping[str, Collection[int]], width: int = 60) -> dict[str, str]:
    """Return names as they are drawn, with the number of trials where a policy has fewer than others."""
    most = max(max(counts) for counts in trials.values())
    labels = {}
    for name, counts in trials.items():
        span = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else f"{max(counts)}"
        note = "" if min(counts) == most else f" ({span} trial{'' if max(counts) == 1 else 's'})"
        labels[name] = plain(name + note, width)
    return labels


def dress(axes: Axes) -> None:
    """Remove the upper and right spines, and add a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)


def dress_rows(axes: Axes, labels: Sequence[str], title: str) -> None:
    """Name the rows of a figure that has one row per label, the first at the top, and dress it."""
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_title(title, loc="left", fontsize=9)
    dress(axes)
    axes.grid(visible=False, axis="y")


def legend_shape(labels: Sequence[str], width: float) -> tuple[int, float]:
    """Return the number of columns and the height, in inches, of a legend below a figure of this width."""
    longest = max(len(line) for label in labels for line in label.split("\n"))
    columns = max(1, min(len(labels), int((width - 0.3) / (0.067 * longest + 0.75))))
    lines = max(label.count("\n") + 1 for label in labels)
    return columns, 0.19 * lines * ceil(len(labels) / columns) + 0.35


def legend_below(figure: Figure, handles: Sequence[Line2D], labels: Sequence[str], caption: str, columns: int) -> None:
    """Put one legend for the whole figure below it, where it covers nothing."""
    legend = figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=9,
        handlelength=3.4,
        alignment="left",
    )
    legend.set_title(caption, FontProperties(size=9))


def write(figure: Figure, target: Target) -> None:
    """Write a figure, all of it or nothing; the same data give the same bytes."""
    undated: dict[str, Any] = {
        ".svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
        ".pdf": {"CreationDate": None},
    }
    if not isinstance(target, str | os.PathLike):
        if not hasattr(target, "write"):
            raise ArgumentTypeError("path", "the name of a file", shown(target))
        figure.savefig(target, format="svg", metadata=undated[".svg"])
        return
    path = Path(target)
    suffix = path.suffix.lower() or ".png"
    if suffix.removeprefix(".") not in figure.canvas.get_supported_filetypes():
        raise ArgumentValueError("path", "a name that ends in .png, .svg or .pdf", f"{target}")
    content = io.BytesIO()
    figure.savefig(content, format=suffix.removeprefix("."), metadata=undated.get(suffix))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path if path.suffix else path.with_suffix(suffix), content.getvalue())
