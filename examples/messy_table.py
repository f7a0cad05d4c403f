"""Give ``decide`` a CSV file as people have it, and see what it assumed.

The file of recipes has semicolons, decimal commas, degrees and percent signs, yes and no, categories, dates and gaps,
in German. Nothing has to be cleaned. Whatever was assumed is listed, and an assumption that is wrong is corrected with
``columns=``. The answer is also a page for a browser, ``recipes.html`` in the current directory.
A figure is written if a path is given: ``python messy_table.py recipes.png``.
"""

import sys
from pathlib import Path

import sparsebandits as sb

file = Path(__file__).parents[1] / "docs" / "examples" / "rezepte.csv"
print(file.read_text(encoding="utf-8"))

advice = sb.decide(file, seed=2)
print("Assumed:")
for one in advice.assumed:
    print(f"  {one}")

advice = sb.decide(file, columns={"Datum": "ignore"}, seed=2)  # the date is no setting
first = advice.recommendations[0]
print(f"\nNext: {first.name}, expected yield {first.expected_reward:.1f} (sd {first.sd:.1f})")
print(advice.stopping)
print(f"\n{advice.feature_table()}")

advice.to_html("recipes.html")
print("\nThe page to show is recipes.html")

if len(sys.argv) > 1:
    sb.plots.write(sb.plots.candidates(advice), sys.argv[1])
