#!/usr/bin/env python3
"""Perfetto's own reader takes the traces of these files, without an error and without loss.

    ci/perfetto-reads.py TRACE.json ...

Needs the package `perfetto` (`pip install perfetto`), which loads Perfetto's trace processor from the network when it is first used.
"""

import sys

try:
    from perfetto.trace_processor import TraceProcessor
except ImportError:
    print("NOT CHECKED: that Perfetto reads the traces, because its package is not installed. Install it by `pip install perfetto`")
    sys.exit()

for file in sys.argv[1:]:
    with TraceProcessor(trace=file) as processor:
        errors = processor.query("select name, value from stats where severity in ('error', 'data_loss') and value > 0")
        errors = [f"{row.name}: {row.value}" for row in errors]
        (slices,) = (row.n for row in processor.query("select count(*) as n from slice"))
        # A slice without an end has the duration -1.
        (open,) = (row.n for row in processor.query("select count(*) as n from slice where dur < 0"))
    print(f"{file}: {slices} slices, {open} of them without an end, errors: {errors}")
    if errors or open or not slices:
        sys.exit(f"ci/perfetto-reads.py: Perfetto does not read {file} as it was written")
