"""The advice as one page for a browser: what to try next and why, the candidates, the features, progress, assumptions.

Everything is inside the file (``results/html.py``), so it can be sent to a colleague. It is rewritten by each call, so
an open tab that is reloaded is a dashboard.
"""

import io
from collections.abc import Callable

from matplotlib.figure import Figure

from sparsebandits.advice.advice import Advice
from sparsebandits.advice.curves_figure import effect_curves
from sparsebandits.results import html
from sparsebandits.results.plots.actions import candidates
from sparsebandits.results.plots.features import effects, inclusion
from sparsebandits.results.plots.history import progress
from sparsebandits.results.plots.style import house_style, write
from sparsebandits.tables import Cell, Table

MOST_CANDIDATES, MOST_FEATURES = 30, 20


def page_of(advice: Advice) -> str:
    """Return the page.

    Parameters
    ----------
    advice : Advice
        The advice.

    Returns
    -------
    str
        HTML.
    """
    about = advice.about
    size = f"{about['n_actions']} actions, {about['n_features']} features, {about['observations']} past rewards"
    size += f" ({', '.join(advice.past.reward_columns)})" if advice.past.reward_columns else ""
    names = ", ".join(one.name for one in advice.recommendations)
    sections = [
        f'<p class="lead"><strong>Next: {html.text(names)}</strong></p>',
        f"<p>{html.text(f'{size}; wanted are {advice.goal}. {_made(advice)}')}</p>",
        html.table(_next_table(advice)),
        *([] if advice.stopping is None else [f"<p>{html.text(advice.stopping)}</p>"]),
        "<h2>Candidates</h2>",
        *_figure(advice, candidates, "Expected reward of the leading candidates with 95% intervals", known=True),
        html.table(_candidate_table(advice), _caption(advice)),
        "<h2>Which features matter</h2>",
        *_figure(advice, inclusion, "Probability that each feature matters"),
        *_figure(advice, effects, "Effect of one standard deviation of each feature with 95% intervals"),
        f"<p>{html.text(advice.effects_heading)}.</p>",
        html.table(advice.feature_table(MOST_FEATURES)),
        "<p>Below: the expected reward along the columns that matter most, the others at their means.</p>"
        if advice.stopping is not None
        else "",
        *_figure(advice, effect_curves, "Expected reward along the columns that matter most", known=True),
        "<h2>So far</h2>",
        *_figure(advice, progress, "Past rewards in the order of the table, and the best so far", known=True),
        f"<h2>{html.text(advice.why)}</h2>",
        f'<div class="wide">{advice.recommendations[0].explanation._repr_html_()}</div>',
        "<h2>What was assumed</h2>",
        _assumed(advice),
    ]
    return html.page("What to try next", sections)


def _made(advice: Advice) -> str:
    about = advice.about
    return (
        f"Made by {about['policy']} with {about['effects']} effects, {about['n_draws']} draws and seed {about['seed']}."
    )


def _next_table(advice: Advice) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (one.name, one.expected_reward, one.sd, one.tried) for one in advice.recommendations
    ]
    return Table(("try", "expected reward", "sd", "trials so far"), rows)


def _candidate_table(advice: Advice) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (one["action"], one["expected reward"], one["sd"], one["P(best)"], one["tried"])
        for one in list(advice.candidates)[:MOST_CANDIDATES]
    ]
    return Table(("candidate", "expected reward", "sd", "P(best)", "trials so far"), rows)


def _caption(advice: Advice) -> str:
    more = len(advice.candidates) - MOST_CANDIDATES
    return f"The {MOST_CANDIDATES} most likely to be the best of {len(advice.candidates)}" if more > 0 else ""


def _assumed(advice: Advice) -> str:
    items = [*(str(one) for one in advice.assumed), *advice.notes]
    listed = "".join(f"<li>{html.text(one)}</li>" for one in items)
    stated = f"<p>Options that state it: <code>{html.text(advice.options)}</code></p>" if advice.options else ""
    return f"<ul>{listed}</ul>{stated}" if items else "<p>Nothing.</p>"


def _figure(advice: Advice, draw: Callable[..., Figure], words: str, known: bool = False) -> list[str]:
    """Return a figure of the advice; none of rewards as long as too little is known of them."""
    if known and advice.stopping is None:
        return []

    @house_style()
    def written(file: io.BytesIO) -> None:
        write(draw(advice), file)

    return [html.figure(written, words)]
