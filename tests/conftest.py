"""Settings for the whole test run: property tests are the same on every run and have no deadline.

Numba notices a change in the file of a cached kernel, but not in the files that the kernel calls into. So the tests
keep compiled kernels in a directory that is named after the code of all kernels and of everything they import.

The lists of tests below are checked: a module or test that was renamed and is still listed by its old name is an error.
"""

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.sources import digest, modules_in
from hypothesis import settings

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".numba_cache" / digest(modules_in("sparsebandits/posteriors/kernels"))
os.environ["NUMBA_CACHE_DIR"] = str(CACHE)  # absolute, for tests that change the directory

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")

SLOW = {
    "tests/advice/test_advice.py::test_batches_of_several_processes_are_all_there",
    "tests/advice/test_comparison.py::test_clicks_are_compared_too",
    "tests/advice/test_stopping.py::test_that_finds_bugs",
    "tests/advice/test_stopping.py::test_what_it_says_is_so_as_often_as_it_says",
    "tests/attacks/test_files.py",
    "tests/cli/test_cli.py::test_bad_input_is_a_message_and_exit_code_2",
    "tests/cli/test_cli.py::test_ctrl_c_leaves_a_message_and_no_traceback",
    "tests/cli/test_cli.py::test_demo",
    "tests/cli/test_cli.py::test_demo_as_json",
    "tests/cli/test_cli.py::test_reproduce_calls_the_runner_of_the_checkout",
    "tests/cli/test_decide.py::test_a_decision_its_reasons_and_its_log",
    "tests/cli/test_decide.py::test_ctrl_c",
    "tests/cli/test_decide.py::test_shell_completion",
    "tests/cli/test_theory.py::test_bad_input_is_a_message_and_exit_code_2",
    "tests/cli/test_theory.py::test_bounds_for_programs_and_as_a_figure",
    "tests/cli/test_usage.py::test_examples_run",
    "tests/experiments/test_cluster.py",
    "tests/experiments/test_experiment.py::test_a_failing_policy_is_named",
    "tests/experiments/test_experiment.py::test_any_number_of_workers_gives_the_same_bytes",
    "tests/experiments/test_experiment.py::test_intervals_cover_the_mean_as_often_as_they_say",
    "tests/experiments/test_interrupted.py",
    "tests/experiments/test_own_code.py::test_a_policy_of_ones_own_runs_in_workers_and_is_resumed",
    "tests/experiments/test_own_code.py::test_the_command",
    "tests/experiments/test_plan.py::test_a_file_is_what_it_says",
    "tests/experiments/test_plan.py::test_the_command",
    "tests/experiments/test_simulate.py::test_on_changing_sets_all_policies_face_the_same_world",
    "tests/experiments/test_simulate.py::test_policies_learn_on_changing_sets",
    "tests/experiments/test_store.py::test_a_full_disk_loses_no_finished_trial",
    "tests/experiments/test_store.py::test_any_number_of_workers_and_any_order_give_the_same_bytes",
    "tests/experiments/test_store.py::test_the_bytes_do_not_depend_on_clock_or_process",
    "tests/experiments/test_tuning.py::test_it_picks_the_better_of_two_widths",
    "tests/journal/test_journals.py::test_a_log_reads_back_what_it_writes",
    "tests/journal/test_journals.py::test_decisions_of_every_policy_can_be_recorded",
    "tests/journal/test_jsonlines.py::test_each_line_is_read_once",
    "tests/journal/test_jsonlines.py::test_every_truncation_is_a_prefix_and_can_be_continued",
    "tests/journal/test_jsonlines.py::test_killing_the_process_loses_nothing_that_was_acknowledged",
    "tests/journal/test_jsonlines.py::test_processes_append_to_one_file",
    "tests/journal/test_offpolicy.py::test_a_good_model_takes_variance_away",
    "tests/journal/test_offpolicy.py::test_either_the_model_or_the_propensities_may_be_wrong",
    "tests/journal/test_offpolicy.py::test_intervals_hold_the_value_in_95_of_100_logs",
    "tests/papers/test_hao2021.py",
    "tests/policies/rivals/test_asymptotic_ids.py::test_regret_at_the_end_of_optimism",
    "tests/policies/rivals/test_asymptotic_ids.py::test_regret_on_an_easy_instance",
    "tests/policies/rivals/test_d_linucb.py::test_regret_on_an_easy_instance",
    "tests/policies/rivals/test_feel_good.py::test_it_plays_as_often_as_it_says",
    "tests/policies/rivals/test_feel_good.py::test_regret_on_an_easy_instance",
    "tests/policies/rivals/test_frequentist_ids.py::test_regret_on_an_easy_instance",
    "tests/policies/rivals/test_hypercube_elimination.py",
    "tests/policies/rivals/test_lasso_policies.py",
    "tests/policies/rivals/test_online_to_confidence.py",
    "tests/policies/rivals/test_sl_ucb.py::test_regret_stops_growing_and_is_far_below_that_of_chance",
    "tests/policies/rivals/test_soids.py::test_it_plays_as_often_as_it_says",
    "tests/policies/rivals/test_soids.py::test_regret_on_an_easy_instance",
    "tests/policies/rivals/test_spike_slab_modes.py::test_emvs_selects_what_matters_among_many",
    "tests/policies/rivals/test_spike_slab_modes.py::test_regret_is_a_fraction_of_that_of_guessing",
    "tests/policies/test_ask_and_tell.py::test_it_learns",
    "tests/policies/test_save_and_load.py::test_continues_bit_for_bit",
    "tests/policies/test_save_and_load.py::test_continues_in_another_process",
    "tests/attacks/test_faults.py::test_a_short_attack",
    "tests/policies/test_textbook.py",
    "tests/posteriors/test_calibration.py",
    "tests/posteriors/test_clicks_and_counts.py::test_chains_agree_with_quadrature",
    "tests/posteriors/test_clicks_and_counts.py::test_chains_start_where_the_posterior_is",
    "tests/posteriors/test_clicks_and_counts.py::test_learnt_hyperparameters_agree",
    "tests/posteriors/test_clicks_and_counts.py::test_moves_that_accept_everything_are_caught",
    "tests/posteriors/test_clicks_and_counts.py::test_other_priors",
    "tests/posteriors/test_clicks_and_counts.py::test_particles_agree_with_quadrature",
    "tests/posteriors/test_clicks_and_counts.py::test_wrong_posteriors_are_caught",
    "tests/posteriors/test_compiled.py",
    "tests/posteriors/test_conjugate.py::test_accurate_after_100_000_updates",
    "tests/posteriors/test_enumeration.py::test_unknown_noise_equals_an_integral_over_known_noise",
    "tests/posteriors/test_forgetting.py::test_gibbs_draws_the_noise_given_what_rewards_count",
    "tests/posteriors/test_gibbs.py",
    "tests/posteriors/test_hierarchy.py",
    "tests/posteriors/test_invariance.py",
    "tests/posteriors/test_invariance_of_clicks.py",
    "tests/posteriors/test_kernels.py",
    "tests/posteriors/test_langevin.py::test_many_chains_in_single_precision_agree_with_few_in_double",
    "tests/posteriors/test_particles.py::test_a_learnt_slab_variance_is_learnt",
    "tests/posteriors/test_particles.py::test_agree_with_enumeration_all_along_a_history",
    "tests/posteriors/test_products.py::test_particles_agree_with_all_models",
    "tests/posteriors/test_products.py::test_particles_agree_with_all_models_for_clicks",
    "tests/posteriors/test_quadrature.py::test_agrees_with_itself_on_more_nodes",
    "tests/posteriors/test_quadrature.py::test_equals_a_grid_over_the_prior_with_an_intercept",
    "tests/posteriors/test_sizes.py",
    "tests/posteriors/test_weights.py::test_learnt_noise_with_weights_has_its_closed_form",
    "tests/results/test_bound_plot.py",
    "tests/results/test_comparison.py::test_methods_draw",
    "tests/results/test_growth.py::test_intervals_cover_the_exponent_as_often_as_they_say",
    "tests/results/test_plots.py::test_no_text_leaves_the_figure_or_covers_another",
    "tests/results/test_plots.py::test_the_same_data_give_the_same_bytes_whatever_the_users_settings",
    "tests/results/test_policy_plots.py::test_looking_changes_nothing",
    "tests/results/test_policy_plots.py::test_no_text_leaves_the_figure",
    "tests/results/test_report.py::test_a_page_that_stands_alone",
    "tests/rules/test_goal.py::test_aimed_finds_the_nearest_row_more_often_than_maximising",
    "tests/rules/test_learnt_noise.py::test_beliefs_integrate_over_what_is_learnt",
    "tests/rules/test_learnt_noise.py::test_draws_of_the_noise_by_enumeration",
    "tests/rules/test_learnt_noise.py::test_equals_sampling_for_a_posterior",
    "tests/rules/test_per_cost.py::test_per_cost_buys_more_than_a_rule_that_ignores_costs",
    "tests/studies/test_real_data.py",
    "tests/test_bad_input.py",
    "tests/test_benchmarks.py",
    "tests/test_docs.py::test_the_site_builds_and_holds_everything",
    "tests/test_examples.py",
    "tests/test_notebooks.py::test_results",
    "tests/test_notebooks.py::test_the_notebook_runs",
    "tests/test_npz.py::test_many_arrays_with_names_beyond_ascii",
    "tests/test_package.py::test_examples_run_and_print_what_they_say",
    "tests/test_sources.py",
    "tests/test_speed.py",
    "tests/test_wheel.py",
    "tests/test_write_and_read.py::test_policies",
    "tests/test_writes.py",
    "tests/theory/test_design.py::test_units_do_not_matter",
    "tests/theory/test_lemmas.py",
    "tests/theory/test_span.py",
}
"""Modules and tests that ``make check`` leaves out: more than about a second of processor time each. Coverage is not
measured in them: tracing takes half as long again and adds little to what the quick tests cover."""

UNTRACED = {"tests/attacks/test_interrupts.py"}
"""Quick tests in which coverage is not measured: an interrupt at any moment may come while coverage holds its own lock,
which it then keeps, and the next file that is traced waits for it forever."""

LINUX = {
    "tests/advice/test_advice.py::test_the_log",
    "tests/cli/test_decide.py::test_ctrl_c",
    "tests/cli/test_decide.py::test_unusual_files_and_logs_that_cannot_be_written",
    "tests/experiments/test_progress.py::test_an_interrupt_that_came_back_as_another_error_is_one",
    "tests/experiments/test_progress.py::test_an_interrupt_that_was_swallowed_comes_back",
    "tests/journal/test_jsonlines.py::test_files_that_cannot_be",
    "tests/policies/test_save_and_load.py::test_links_permissions_and_what_is_no_file",
}
"""Quick tests with named pipes, signals to processes or ``/dev/full``, which Windows or macOS does not have."""

if sys.platform == "win32":
    collect_ignore = ["test_benchmarks.py", "test_scale_pages.py"]  # the benchmarks read /proc and import resource


def pytest_configure() -> None:
    """Refuse a list that names a module or test which is not there, and let Ctrl-C interrupt the tests' processes.

    A shell that starts the tests in the background has it ignored, and processes inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for entry in sorted(SLOW | UNTRACED | LINUX):
        module, _, test = entry.partition("::")
        source = (ROOT / module).read_text(encoding="utf-8") if (ROOT / module).is_file() else ""
        if not re.search(rf"^def {test}\(" if test else "^def test_", source, re.MULTILINE):
            raise pytest.UsageError(f"tests/conftest.py lists {entry}, which does not exist: correct the list")


@pytest.hookimpl(tryfirst=True)  # before tests are selected by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that are listed above."""
    for item in items:
        module = item.path.relative_to(ROOT).as_posix()
        names = {module, f"{module}::{getattr(item, 'originalname', item.name)}"}
        if names & SLOW:
            item.add_marker(pytest.mark.slow)
        if names & (SLOW | UNTRACED):
            item.add_marker(pytest.mark.untraced)
        if names & LINUX and sys.platform != "linux":
            item.add_marker(pytest.mark.skip(reason="needs signals or files of Linux"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Run some tests without a tracer: in the processes of xdist, ``no_cover`` of pytest-cov has no effect."""
    tracer = sys.gettrace()
    if item.get_closest_marker("untraced"):
        sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)
