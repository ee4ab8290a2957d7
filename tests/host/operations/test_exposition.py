"""Tests the text of metrics with the parser of Prometheus' own client, and the limit of labels."""

from __future__ import annotations

import math
import threading

from prometheus_client.parser import text_string_to_metric_families

from carrel.server.operations.catalogue import Catalogue, status_label
from carrel.server.operations.exposition import MOST, Exposition, HistogramFamily, MetricFamily


def parsed(*families: MetricFamily) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Returns sample name and labels → value, as Prometheus reads the text."""
    text = Exposition(families).text().decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_counters_and_gauges_have_the_values_that_were_set() -> None:
    counter = MetricFamily("a_total", "Things.", labels=("kind",))
    counter.add("x")
    counter.add("x", amount=2.5)
    gauge = MetricFamily("g", "A level.", "gauge")
    gauge.set(-7)
    assert parsed(counter, gauge) == {("a_total", (("kind", "x"),)): 3.5, ("g", ()): -7}


def test_label_values_are_escaped() -> None:
    hostile = 'a"b\\c\nd} 1\n# TYPE evil counter'
    counter = MetricFamily("a_total", "Line\none.", labels=("kind",))
    counter.add(hostile)
    assert parsed(counter) == {("a_total", (("kind", hostile),)): 1.0}


def test_buckets_of_a_histogram_are_cumulative() -> None:
    seconds = HistogramFamily("s", "Time.", ("of",), bounds=(0.1, 1, 10))
    for value in (0.05, 0.1, 0.5, 3, 100):
        seconds.observe(value, "x")
    found = parsed(seconds)
    buckets = [found["s_bucket", (("le", le), ("of", "x"))] for le in ("0.1", "1", "10", "+Inf")]
    assert buckets == [2, 3, 4, 5]
    assert found["s_count", (("of", "x"),)] == 5
    assert math.isclose(found["s_sum", (("of", "x"),)], 103.65)


def test_further_label_values_are_counted_as_other() -> None:
    counter = MetricFamily("a_total", "Things.", labels=("kind", "more"))
    for number in range(MOST + 50):
        counter.add(str(number), "m")
    found = parsed(counter)
    assert len(found) == MOST + 1
    assert found["a_total", (("kind", "other"), ("more", "other"))] == 50


def test_values_can_be_added_from_several_threads() -> None:
    counter = MetricFamily("a_total", "Things.", labels=("kind",))

    def add() -> None:
        for _ in range(2000):
            counter.add("x")

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert parsed(counter) == {("a_total", (("kind", "x"),)): 16_000}


def test_special_numbers_are_readable() -> None:
    gauge = MetricFamily("g", "A level.", "gauge", ("of",))
    for value, name in ((math.inf, "i"), (-math.inf, "m"), (1e300, "b"), (0.1, "t")):
        gauge.set(value, name)
    found = {labels[0][1]: value for (_, labels), value in parsed(gauge).items()}
    assert found == {"i": math.inf, "m": -math.inf, "b": 1e300, "t": 0.1}


def test_every_family_has_a_name_of_prometheus_and_its_kind() -> None:
    families = Catalogue().families()
    names = [family.name for family in families]
    assert len(set(names)) == len(names)
    for family in families:
        assert family.name.endswith("_total") == (family.kind == "counter"), family.name
        assert family.name.startswith(("carrel_", "process_"))
        assert family.help_text.endswith(".")


def test_a_status_is_a_label_value_and_an_unusual_one_its_class() -> None:
    labels = [status_label(one) for one in ("200", "429", "299", "777", "unreachable")]
    assert labels == ["200", "429", "2xx", "7xx", "unreachable"]
