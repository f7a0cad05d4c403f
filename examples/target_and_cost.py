"""Aim at a value instead of the largest one, count what trials cost, and keep to constraints.

Forty drinks differ in six settings. First a pH of 7.4 is wanted, neither more nor less. Then the sum of rewards that a
budget buys is to be large, where drinks have different prices. Last, small values are good and some rows are excluded.
A figure is written if a path is given: ``python target_and_cost.py target.png``.
"""

import sys

import numpy as np
import pandas as pd

import sparsebandits as sb

rng = np.random.default_rng(2)
settings = ["acid", "salt", "sugar", "minutes", "degrees", "stirring"]
drinks = pd.DataFrame(rng.uniform(0, 5, size=(40, 6)).round(1), columns=settings)
drinks.index = pd.Index([f"D{number:02}" for number in range(1, 41)])
mean = 8.5 - 0.6 * drinks["acid"] + 0.3 * drinks["salt"]  # the pH, unknown
measured = (mean + 0.1 * rng.standard_normal(40)).where(np.arange(40) < 14)  # of the first 14

largest = sb.decide(drinks.assign(reward=measured), untried=True, seed=0)
aimed = sb.decide(drinks.assign(reward=measured), target=7.4, untried=True, batch=3, seed=0)
print(f"largest: {largest.recommendations[0].name}, true pH {mean[largest.recommendations[0].name]:.2f}")
for one in aimed.recommendations:
    print(f"close to 7.4: {one.name}, expected {one.expected_reward:.2f}, true pH {mean[one.name]:.2f}")

profit = 2 + 0.8 * drinks["sugar"] + 0.2 * rng.standard_normal(40)  # zero has to mean that nothing was gained
priced = drinks.assign(price=rng.uniform(1, 6, 40).round(1), reward=profit.where(np.arange(40) < 14))
answers = {
    "price ignored": sb.decide(priced, ignore="price", horizon=1, seed=0),
    "per unit of cost": sb.decide(priced, cost="price", horizon=1, seed=0),
}
for name, advice in answers.items():
    one = advice.recommendations[0]
    price = priced["price"][one.name]
    print(f"{name}: {one.name}, expected reward {one.expected_reward:.1f} for a price of {price:.1f}")

small = sb.decide(drinks.assign(reward=measured), minimize=True, where="sugar < 2", horizon=1, seed=0)
one = small.recommendations[0]
print(f"smallest with sugar below 2: {one.name}, sugar {drinks['sugar'][one.name]}, true pH {mean[one.name]:.2f}")

if len(sys.argv) > 1:
    figure = sb.plots.candidates(aimed, most=12)
    figure.axes[0].axvline(7.4, color="0.4", linestyle="--", linewidth=1)
    sb.plots.write(figure, sys.argv[1])
