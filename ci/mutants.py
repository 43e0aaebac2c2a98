#!/usr/bin/env python3
"""Do the pool's tests notice code that is wrong?

Each mutant below is a plausible fault: a step that is left out, or a condition that is turned around. A mutant that passes all its checks survives:
it needs a test, or its line has no use.

By default, the script applies one mutant at a time to a copy of the tree, and runs the pool's tests, under AddressSanitizer where the fault is a
use after free. For the slots and latches, the loom models run first.

With `--sim`, the random programs of `sim/tests/pool.rs` run on virtual threads instead. All mutants are compiled at once, and the variable FAULT
chooses one: a build, and then some seconds for each. `SCHEDULES=n` sets the number of schedules.

    ci/mutants.py [--sim] [NAME ...]            default: all; without --sim some two minutes for each
    ci/mutants.py [--sim] --list

`ci/weaken.py` does the same for memory orderings, with loom models.
"""

import os
import re
import subprocess
import sys
import time

from tree_copy import copied_tree, target

TIMEOUT = 300
TARGET = "x86_64-unknown-linux-gnu"

# Name: which checks must find it ("tests", "asan": the tests under AddressSanitizer, "sim"), file below pool/src, and the changes: a text in which
# guillemets mark the expression or the statements that the replacement stands for.
#
# Not here, because only time is lost (a fork that no thief sees is run by its owner; so is a spawned job):
# - a parker that keeps its token; `wake_more` that wakes none; `keep_slot`, `share_ahead` and `PATIENCE` left out; a fork that wakes no worker;
# - a final check that looks once, or requests no split; a request for a split that is overwritten; a new active deque that is not poked;
# - jobs that are not put on the shelf.
#
# Faults that 100,000 schedules do not find, because the random programs lack what they need:
# - a job or a thread that blocks outside the pool: a full pool that is not watched, a watcher that does not look again, a taken slot that counts as
#   free, a slot that is held by its index alone, a claim that outlives its service;
# - a bound on threads: no final check by the attendant;
# - waits of milliseconds in slots for a job from outside: long sleepers that are not counted, not woken, or do not look again; a broadcast that does
#   not wake a waiting worker (a unit test finds that one);
# - a future that is woken twice: a scheduled task that is queued again; a stop while all sleep: an urgent job that notifies none;
# - luck, as the window is some steps: no final check at a released slot, or after a search that has found a job; a mugged, settled or suspended
#   deque that notifies none; a woken worker that is counted after it has its slot.
MUTANTS = {
    "broadcast-not-claimed": (
        "tests sim",
        "slots/waits.rs",
        [
            ("«if has_broadcast {\n                _ = self.occupy_or_claim(worker);\n            }»", ""),
        ],
    ),
    "waiter-not-woken": ("tests sim", "slots/waits.rs", [("WorkerState::Waiting => «self.wake(waiter)»,", "()")]),
    "swept-task-not-retained": (
        "asan",
        "engine/task/list.rs",
        [
            ("«task.as_ref().state.retain();»\n", ""),
            ("Core::cancel(task);\n                        «Core::release(task);»", ""),
        ],
    ),
    "registry-not-kept-by-wake": (
        "asan",
        "engine/task/erased.rs",
        [
            ("let _kept = «worker.is_none().then(|| registry.this())»;", "None::<std::sync::Arc<crate::engine::registry::Registry>>"),
        ],
    ),
    "handed-over-without-final-check": (
        "tests sim",
        "engine/registry/waits.rs",
        [
            ("«self.final_check(worker);»\n        if claims {", "if !has_slot {\n            self.final_check(worker);\n        }"),
        ],
    ),
    "claimant-not-woken": ("tests sim", "slots/waits.rs", [("«self.claim(waiter);»\n                // From", "")]),
    "broadcast-does-not-wake": ("tests", "slots/waits.rs", [("WorkerState::Waiting => «self.wake(worker)»,", "()")]),
    "free-slot-goes-before-claims": (
        "tests sim",
        "slots/hands.rs",
        [
            ("while let Some(number) = «self.claims.pop_front()» {", "None::<usize>"),
        ],
    ),
    "slot-holder-not-published": ("tests sim", "slots/hands.rs", [("«self.slots.set_holder(slot, Some(worker));»", "")]),
    "slot-holder-stays-on-the-shelf": ("tests", "slots/hands.rs", [("«self.unshelve(worker);»", "")]),
    "turn-given-without-a-claim": ("tests sim", "slots/hands.rs", [("self.occupy(next, slot);\n        «self.claim(worker);»", "")]),
    "late-future-not-cancelled": (
        "tests",
        "engine/registry.rs",
        [
            ("«if self.is_ending.load(Relaxed) {\n                unawaited.cancel();\n            }»", ""),
        ],
    ),
    "credits-of-the-frame-below": (
        "tests",
        "engine/worker/frame.rs",
        [
            ("credits: «Credits::default()»,\n            open", "below.credits"),
        ],
    ),
    "frame-not-popped": ("tests", "engine/worker/frame.rs", [("«self.frames.top.set(self.below);»", "")]),
    "parks-without-final-check": (
        "sim",
        "slots/wake.rs",
        [
            ("if «self.slots.final_check(worker, sees_work)» && self.occupy_free(worker)", "false"),
        ],
    ),
    "unpark-leaves-no-token": (
        "sim",
        "sync/parker.rs",
        [
            ("«state.token = true;»", ""),
        ],
    ),
    "driver-leaves-a-token": ("sim", "sync/parker.rs", [("if «!has_token» {\n            debug_assert", "true")]),
    "driver-is-not-woken": ("sim", "engine/worker.rs", [("catch_unwind(AssertUnwindSafe(|| «waker.wake()»))", "drop(waker)")]),
    "driver-parks-as-if-it-was-woken": ("sim", "engine/registry/sleep.rs", [("if !worker.parker.poll_park(waker) {\n                    worker.drives.set(true);\n                    «return Sleep::Drives;»", "")]),
    "unpark-does-not-notify": ("sim", "sync/parker.rs", [("«self.changed.notify_one();»", "")]),
    "notify-wakes-no-worker": ("sim", "engine/registry/wake.rs", [("if !wakes_driver() {\n                    «self.wake_if_none_searches(by);»", "")]),
    "notify-leaves-the-timed-searcher": ("sim", "engine/registry/wake.rs", [("has_timed_searcher_only() {\n                    «self.wake_timed_searcher(by);»", "")]),
    "contended-wake-gives-up": (
        "sim",
        "engine/registry/wake.rs",
        [
            ("self.lock_while(|| «self.slots.searching.needs_searcher()»)", "false"),
        ],
    ),
    "contended-wake-of-timed-searcher-gives-up": (
        "sim",
        "engine/registry/wake.rs",
        [
            (
                "claim_timed_searcher() && «self.lock().wake_timed_searcher()»",
                "self.lock_while(|| false).is_some_and(|mut slots| slots.wake_timed_searcher())",
            ),
        ],
    ),
    "woken-worker-not-counted": (
        "sim",
        "slots/hands.rs",
        [
            ("self.unlist_parked(worker);\n                «self.slots.searching.begin(worker.number());»", ""),
        ],
    ),
    "woken-worker-not-unparked": (
        "sim",
        "slots/hands.rs",
        [
            ("if state != WorkerState::Active {\n            «self.woken.push(worker.number());»", ""),
        ],
    ),
    "woken-worker-stays-in-the-list": (
        "sim",
        "slots/hands.rs",
        [
            ("WorkerState::Parked => {\n                «self.unlist_parked(worker);»", ""),
        ],
    ),
    "search-begins-without-the-root": (
        "sim",
        "slots/searching.rs",
        [
            ("«self.count.fetch_add(1, AcqRel);»", "if self.groups.is_empty() {\n                self.count.fetch_add(1, AcqRel);\n            }"),
        ],
    ),
    "group-counted-for-each-worker": (
        "sim",
        "slots/searching.rs",
        [
            ("is_none_or(|group| «group.fetch_add(1, AcqRel) == 0»)", "{ group.fetch_add(1, AcqRel); true }"),
        ],
    ),
    "group-leaves-with-its-first-worker": (
        "sim",
        "slots/searching.rs",
        [
            ("is_none_or(|group| «group.fetch_sub(1, AcqRel) == 1»)", "{ group.fetch_sub(1, AcqRel); true }"),
        ],
    ),
    "group-never-leaves": (
        "sim",
        "slots/searching.rs",
        [
            ("is_none_or(|group| «group.fetch_sub(1, AcqRel) == 1»)", "{ group.fetch_sub(1, AcqRel); false }"),
        ],
    ),
    "last-searcher-not-told": (
        "sim",
        "slots/searching.rs",
        [
            ("«self.count.fetch_sub(1, AcqRel) == 1»", "{ self.count.fetch_sub(1, AcqRel); false }"),
        ],
    ),
    "end-leaves-parked-workers": ("sim", "slots/wake.rs", [("«table.woken.extend(parked.map(|(number, _)| number));»", "")]),
    "end-leaves-the-timed-searcher": (
        "sim",
        "slots/wake.rs",
        [
            ("«table.woken.extend(table.timed_searcher.iter().chain(&table.monitor.watcher));»", ""),
        ],
    ),
    "turn-before-it-is-awake": ("tests", "engine/registry/sleep.rs", [("«&& !worker.watches.load(Relaxed)»", "")]),
    "broadcast-not-seen-before-the-sleep": (
        "sim",
        "engine/registry/sleep.rs",
        [
            ("if «!worker.broadcasts.is_empty()» {\n                    return Sleep::Needed;", "false"),
        ],
    ),
    "released-slot-is-lost": ("sim", "slots/hands.rs", [("if let Some(slot) = slot {\n            «self.make_available(slot);»", "")]),
    "free-slots-not-counted": (
        "sim",
        "slots/hands.rs",
        [
            ("self.free.push(slot.0);\n        «self.publish_free();»", ""),
        ],
    ),
    "blocked-worker-keeps-its-slot": (
        "sim",
        "slots/waits.rs",
        [
            ("if worker.slot().is_some() {\n            «self.release(worker);»", ""),
        ],
    ),
    "blocked-worker-not-marked": (
        "sim",
        "slots/hands.rs",
        [
            ("«self.set_state(worker, WorkerState::Blocked);»\n        self.occupy(next", ""),
        ],
    ),
    "set-does-not-resume": ("sim", "sync/latch.rs", [("if before & WAITING != 0 {\n            «resume();»", "")]),
    "waits-though-done": (
        "sim",
        "sync/latch.rs",
        [
            ("«self.0.fetch_or(WAITING, AcqRel) & DONE == 0»", "{ self.0.fetch_or(WAITING, AcqRel); true }"),
        ],
    ),
    "signal-does-not-resume": (
        "sim",
        "sync/latch.rs",
        [
            ("«self.0.swap(DONE, AcqRel) & WAITING != 0»", "{ self.0.swap(DONE, AcqRel); false }"),
        ],
    ),
    "wake-in-poll-is-lost": ("sim", "sync/task_state.rs", [("Ok(_) if «word & SCHEDULED != 0» => return SuspendAction::Again", "false")]),
    "wake-in-poll-queues": ("sim", "sync/task_state.rs", [("Ok(_) if «word & RUNNING != 0» => return WakeAction::InPoll", "false")]),
    "resumable-deque-not-listed": (
        "sim",
        "engine/registry.rs",
        [
            ("ResumeAction::List => «self.stealable.add(Entry::Deque(deque))»", "()"),
        ],
    ),
    "woken-task-notifies-none": (
        "sim",
        "engine/registry.rs",
        [
            ("ResumeAction::Listed => {}\n            },\n        }\n        «self.notify(by);»", ""),
        ],
    ),
    "injected-job-notifies-none": ("sim", "engine/registry.rs", [("unsafe { self.queue(job) };\n        «self.notify(None);»", "")]),
    "spawned-job-notifies-none": (
        "sim",
        "engine/worker/spawned.rs",
        [
            ("self.drain();\n            }\n            «self.registry().notify(Some(self));»", ""),
        ],
    ),
    "mugged-task-is-lost": ("sim", "engine/worker/spawned.rs", [("«task.or_else(|| self.find_spawned())»", "self.find_spawned()")]),
    "settled-deque-not-listed": (
        "sim",
        "engine/worker/spawned.rs",
        [
            ("Settle::List => {\n                «self.registry().stealable.add(Entry::Deque(deque));»", ""),
        ],
    ),
    "settled-task-is-lost": ("sim", "engine/worker/spawned.rs", [("«stolen.or(task)»", "stolen")]),
    "suspended-deque-not-listed": (
        "sim",
        "engine/worker/spawned.rs",
        [
            ("«self.registry().stealable.add(Entry::Deque(deque));»\n        self.adopt", ""),
        ],
    ),
    "last-job-taken-twice": (
        "sim",
        "deque.rs",
        [
            ("if b == top => {\n                    «self.change(word, Word::private(top.wrapping_add(1)))»", "true"),
        ],
    ),
    "earlier-timer-not-told": (
        "sim",
        "../../schedulers/src/timer.rs",
        [
            ("«NEXT_LOOK.store(AWAKE, Relaxed);\n    EARLIER.notify_one();»\n    Ok", ""),
        ],
    ),
    "timers-look-once": ("sim", "../../schedulers/src/timer.rs", [("if «first() >= next» {", "true")]),
    "shard-does-not-say-its-first": ("sim", "../../schedulers/src/timer.rs", [("«self.first.store(first, Relaxed);»", "")]),
    "urgent-job-not-first": (
        "tests",
        "engine/worker/search.rs",
        [
            ("self.find_broadcast()«.or_else(|| self.registry().urgent.take())» {", ""),
        ],
    ),
    "background-job-before-others": (
        "tests",
        "engine/worker/search.rs",
        [
            ("«self.find_own()\n            .or_else(|| self.find_stolen(patience))»", "background().or_else(|| self.find_own())"),
        ],
    ),
    "claims-by-age-alone": (
        "tests",
        "slots/hands.rs",
        [
            ("self.claims.partition_point(|&other| «slots.known(other).rank() >= worker.rank()»)", "{ let _ = (slots, other); true }"),
        ],
    ),
    "token-wakes-none": ("tests", "engine/registry/wake.rs", [("if «self.slots.held() > 0» {\n            self.wake_searcher", "false")]),
    "token-not-given-back": ("tests", "slots/tokens.rs", [("let surplus = «table.free.len().saturating_sub(kept).min(table.tokens.held.len())»;", "{ let _ = kept; 0 }")]),
    "token-wanted-by-none": ("tests", "slots/hands.rs", [("«self.tokens.is_wanted = true;»\n            return None", "")]),
}

# Tells whether a mutant is chosen. Appended to the crates in which there are any.
FAULT = """
#[doc(hidden)]
pub fn fault(number: usize) -> bool {
    static FAULT: std::sync::LazyLock<Option<usize>> =
        std::sync::LazyLock::new(|| std::env::var("FAULT").ok().and_then(|number| number.parse().ok()));
    *FAULT == Some(number)
}
"""


def path_of(tree, name):
    return os.path.normpath(os.path.join(tree, "pool/src", MUTANTS[name][1]))


def changes_of(name, source):
    """Where the mutant changes the source: begin, end, and replacement."""
    for marked, replacement in MUTANTS[name][2]:
        before, text, after = re.split("[«»]", marked)
        if source.count(before + text + after) != 1:
            sys.exit(f"{name}: its text is there {source.count(before + text + after)} times, not once; adapt the script:\n{marked}")
        begin = source.index(before + text + after) + len(before)
        yield begin, begin + len(text), replacement


def changed(source, changes):
    for begin, end, replacement in sorted(changes, reverse=True):
        source = source[:begin] + replacement + source[end:]
    return source


def with_all(source, names):
    """The source with all those mutants, of which `fault` chooses one."""
    places = {}
    for name in names:
        for begin, end, replacement in changes_of(name, source):
            number = list(MUTANTS).index(name)
            places.setdefault((begin, end), []).append(f"if crate::fault({number}) {{ {replacement} }} else ")
    changes = []
    for (begin, end), choices in places.items():
        text = source[begin:end]
        choice = "".join(choices) + f"{{ {text} }}"
        changes.append((begin, end, choice if text.endswith((";", "}")) else f"({choice})"))
    return changed(source, changes)


def simulate(tree, names):
    """Runs each mutant on virtual threads. Yields what has found it."""
    files = {path_of(tree, name) for name in names}
    crates = {os.path.join(path[: path.index("/src/")], "src/lib.rs") for path in files}
    for path in files:
        with open(path) as original:
            source = original.read()
        with open(path, "w") as copy:
            copy.write(with_all(source, [name for name in names if path_of(tree, name) == path]))
    for path in crates:
        with open(path, "a") as copy:
            copy.write(FAULT)
    env = {**os.environ, "CARGO_TARGET_DIR": target("mutants-sim"), "RUSTFLAGS": "--cfg furcate_sim -Awarnings"}
    command = ["cargo", "test", "--release", "-p", "furcate-sim", "--locked", "--test", "pool", "--no-run"]
    built = subprocess.run(command, cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if built.returncode != 0:
        sys.exit(f"the mutants do not compile:\n{built.stdout}")
    programs = os.path.join(tree, re.search(r"Executable .*\((.*)\)", built.stdout).group(1))
    for name in [None, *names]:
        fault = {} if name is None else {"FAULT": str(list(MUTANTS).index(name))}
        env = {"SCHEDULES": "100000", **os.environ, **fault}
        began = time.monotonic()
        try:
            run = subprocess.run(
                [programs], env=env, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
            )
        except subprocess.TimeoutExpired:
            yield name, "a run that does not end"
            continue
        found = re.search(r"with seed .*", run.stdout)
        found = found.group() if found else f"a process that ends with {run.returncode}: {run.stdout[-200:]}"
        yield name, f"{found[:150]} ({time.monotonic() - began:.0f} s)" if run.returncode else None


def cargo(tree, asan, *arguments):
    env = {**os.environ, "RUST_BACKTRACE": "0", "CARGO_TARGET_DIR": target("mutants"), "RUSTFLAGS": "-Awarnings"}
    command = ["cargo", "test", "-p", "furcate-pool", "--locked", *arguments]
    skipped = []
    if asan:
        env |= {"RUSTFLAGS": "-Zsanitizer=address -Awarnings", "ASAN_OPTIONS": "detect_leaks=0"}
        command[1:1] = ["+nightly"]
        command += ["--target", TARGET]
        skipped = ["--skip", "stack", "--skip", "a_thousand_pools_leave_nothing_behind"]
    if "--no-run" not in arguments:
        command += ["--", *skipped]
    return subprocess.run(command, cwd=tree, env=env, timeout=TIMEOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def models(tree):
    """Runs the models of slots and latches."""
    env = {**os.environ, "RUST_BACKTRACE": "0", "CARGO_TARGET_DIR": target("mutants-loom"), "RUSTFLAGS": "--cfg loom -Awarnings"}
    command = ["cargo", "test", "-p", "furcate-pool", "--locked", "--lib", "--release", "--", "slots::models", "latch::models"]
    return subprocess.run(command, cwd=tree, env=env, timeout=TIMEOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def failed(run):
    return re.findall(r"^test (\S+) \.\.\. FAILED$", run.stdout, re.M)


def killer(tree, asan, has_models):
    """What notices the fault: the failing tests' names, a hang, or a report of the sanitizer."""
    try:
        if has_models and (names := failed(models(tree))):
            return ", ".join(names)
        # The unit tests first: they are fast.
        run = cargo(tree, asan, "--lib")
        if run.returncode == 0:
            run = cargo(tree, asan, "--tests")
    except subprocess.TimeoutExpired:
        return "a test that does not end"
    if run.returncode == 0:
        return None
    report = re.search(r"AddressSanitizer: (\S+)", run.stdout)
    return ", ".join(failed(run)) or (report.group(1) if report else "a process that fails")


def test(tree, names):
    """Runs the tests on one mutant after the other. Yields what has found it."""
    for name in names:
        path, asan = path_of(tree, name), "asan" in MUTANTS[name][0]
        with open(path) as original:
            source = original.read()
        with open(path, "w") as copy:
            copy.write(changed(source, changes_of(name, source)))
        built = cargo(tree, asan, "--lib", "--tests", "--no-run")
        if built.returncode != 0:  # it would pass for a killed one
            sys.exit(f"{name} does not compile:\n{built.stdout}")
        yield name, killer(tree, asan, MUTANTS[name][1].startswith(("slots", "latch")))
        with open(path, "w") as copy:
            copy.write(source)


def main():
    arguments = sys.argv[1:]
    is_simulated = "--sim" in arguments
    known = [name for name in MUTANTS if ("sim" in MUTANTS[name][0]) >= is_simulated and (is_simulated or MUTANTS[name][0] != "sim")]
    chosen = [argument for argument in arguments if argument != "--sim"] or known
    if chosen == ["--list"]:
        return print("\n".join(known))
    if unknown := [name for name in chosen if name not in known]:
        sys.exit(f"no such mutant: {', '.join(unknown)}; `ci/mutants.py --list` lists them")
    survivors, began = [], time.monotonic()
    with copied_tree() as tree:
        for name, by in (simulate if is_simulated else test)(tree, chosen):
            if name is None:
                if by:
                    sys.exit(f"the tree without a mutant fails: {by}")
                continue
            print(f"{name}: {f'killed by {by}' if by else 'SURVIVES'}", flush=True)
            if not by:
                survivors.append(name)
    print(f"{len(chosen)} mutants, {time.monotonic() - began:.0f} s; survivors: {', '.join(survivors) or 'none'}")
    sys.exit(bool(survivors))


main()
