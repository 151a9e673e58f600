"""Write two small tables to try the `ctad` command on: train.csv and new.csv.

Orders of a shop, with text, dates and missing values. In new.csv one order in twenty is an anomaly:
the column `odd` is 1 for these.
"""

import csv
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

COLUMNS = ("order", "when", "country", "customer", "items", "amount", "discount", "express", "odd")


def orders(random, first, n, share_odd):
    """Rows of the table: most are normal, some are odd in one of three ways."""
    for number in range(first, first + n):
        day = datetime(2026, 1, 5) + timedelta(days=int(random.integers(0, 28)))
        hour = random.normal(13, 2.5)
        business = random.random() < 0.3
        items = 1 + random.poisson(20 if business else 2)
        price = random.lognormal(3, 0.3)
        discount = random.choice([5, 10]) if business else None
        express = random.random() < 0.2
        odd = random.random() < share_odd
        match random.integers(3) if odd else None:
            case 0:  # at night, and far too expensive
                hour, price = random.normal(3, 1), price * 6
            case 1:  # a private customer with many items and a business discount
                business, items, discount = False, 30 + random.poisson(10), 10
            case 2:  # very cheap, but express
                price, express = price / 20, True
        yield (
            number,
            (day + timedelta(hours=float(hour))).isoformat(" ", "minutes"),
            random.choice(["IT", "FR", "DE", "CH"], p=[0.4, 0.3, 0.2, 0.1]),
            "business" if business else "private",
            items,
            f"{items * price:.2f}",
            "" if discount is None else discount,
            str(express).lower(),
            int(odd),
        )


def main():
    random = np.random.default_rng(0)
    for name, first, n, share_odd in (("train.csv", 1, 9000, 0.0), ("new.csv", 9001, 1000, 0.05)):
        with Path(name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(orders(random, first, n, share_odd))
        print(f"{name}: {n} orders")


if __name__ == "__main__":
    main()
