"""Linear models of scikit-learn."""

from __future__ import annotations

from typing import Any

from .._description import Description, set_attributes
from .._kinds import (
    ANY_LENGTH,
    Choice,
    Flag,
    Floats,
    Integer,
    ListOf,
    MayBeMissing,
    Number,
    OneOf,
    Optional,
    Seed,
)
from ._common import COLUMNS, N_JOBS, VERBOSE, SingleOrDouble


def _put_together(machine: Any, values: dict[str, Any]) -> None:
    set_attributes(machine, values)
    machine._loss_function_ = machine._get_loss_function(machine.loss)


DESCRIPTIONS = (
    Description(
        type="sklearn.linear_model.SGDOneClassSVM",
        role="detector",
        parameters={
            "nu": Number(0, 1),
            "fit_intercept": Flag(),
            "max_iter": Integer(1),
            "tol": Optional(Number(0)),
            "shuffle": Flag(),
            "verbose": VERBOSE,
            "random_state": Seed(),
            "learning_rate": Choice(("optimal", "constant", "invscaling", "adaptive")),
            "eta0": Number(0),
            "power_t": Number(),
            "warm_start": Flag(),
            "average": OneOf((Flag(), Integer(1))),
        },
        fitted={
            **COLUMNS,
            "coef_": Floats("d"),
            "offset_": Floats(1),
            "t_": Number(0),
            "n_iter_": Integer(1),
            "_standard_coef": MayBeMissing(Floats("d")),
            "_average_coef": MayBeMissing(Floats("d")),
            "_standard_intercept": MayBeMissing(Floats(1)),
            "_average_intercept": MayBeMissing(Floats(1)),
        },
        rebuilt=(
            *("loss", "penalty", "alpha", "l1_ratio", "epsilon", "early_stopping"),
            *("validation_fraction", "n_iter_no_change", "_loss_function_"),
        ),
        put_together=_put_together,
        n_in="d",
    ),
    Description(
        type="sklearn.linear_model.LinearRegression",
        role="part",
        parameters={
            "fit_intercept": Flag(),
            "copy_X": Flag(),
            "tol": Number(0),
            "n_jobs": N_JOBS,
            "positive": Flag(),
        },
        fitted={
            **COLUMNS,
            "coef_": Floats("d"),
            "intercept_": Number(),
            "rank_": MayBeMissing(Integer()),
            "singular_": MayBeMissing(Floats("singular", low=0)),
        },
        n_in="d",
    ),
    Description(
        type="sklearn.linear_model.BayesianRidge",
        role="part",
        parameters={
            "max_iter": Integer(1),
            "tol": Number(0),
            **dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), Number(0)),
            **dict.fromkeys(("alpha_init", "lambda_init"), Optional(Number(0))),
            "compute_score": Flag(),
            "fit_intercept": Flag(),
            "copy_X": Flag(),
            "verbose": VERBOSE,
        },
        fitted={
            **COLUMNS,
            "coef_": SingleOrDouble("d"),
            "intercept_": Number(),
            "alpha_": Number(0),
            "lambda_": Number(0),
            "sigma_": SingleOrDouble("d", "d"),
            "X_offset_": SingleOrDouble("d"),
            "X_scale_": MayBeMissing(SingleOrDouble("d")),
            "scores_": OneOf((ListOf(Number()), Floats(ANY_LENGTH))),
            "n_iter_": Integer(),
        },
        n_in="d",
    ),
)
