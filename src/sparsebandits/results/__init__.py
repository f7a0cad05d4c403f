"""Results of experiments as plain data, with their statistics, figures and report."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.results.statistics import Estimate as Estimate
    from sparsebandits.results.statistics import Wins as Wins
    from sparsebandits.results.statistics import estimate_mean as estimate_mean
    from sparsebandits.results.statistics import group_pulls as group_pulls
    from sparsebandits.results.statistics import growing as growing
    from sparsebandits.results.statistics import growth_exponent as growth_exponent
    from sparsebandits.results.statistics import mean_interval as mean_interval
    from sparsebandits.results.statistics import paired as paired
    from sparsebandits.results.statistics import sign_test as sign_test
    from sparsebandits.results.statistics import statistic_interval as statistic_interval
    from sparsebandits.tables import Rows as Rows
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
