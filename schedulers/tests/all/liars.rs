//! I3: producers that report a wrong size or cut wrongly. The result may be wrong or a panic, but every computation
//! ends, and no item is doubled.

use crate::support::{Collect, Place, entries};
use furcate_schedulers::policy::{self, Both};
use furcate_schedulers::{ByBlocks, ByTerminal, Divisible, Doubling, Facts, Join, Producer, Sequential};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;
use testkit::collect::{CollectBackward, CollectInSteps};

const ITEMS: usize = 40;

/// The lies: functions from the real size to the reported one, and from the requested cut to the actual one.
#[derive(Clone, Copy)]
struct Lies {
    name: &'static str,
    size: fn(usize) -> usize,
    cut: fn(usize) -> usize,
    should_be_divided: Option<bool>,
}

const TRUTH: Lies = Lies { name: "truth", size: |len| len, cut: |at| at, should_be_divided: None };

/// Lies that lose nothing, since a part with items never reports that it is empty.
const HARMLESS: [Lies; 7] = [
    TRUTH,
    Lies { name: "too long", size: |len| len + 3, ..TRUTH },
    Lies { name: "much too long", size: |_| usize::MAX, ..TRUTH },
    Lies { name: "always the same", size: |_| 10, ..TRUTH },
    Lies { name: "too short", size: |len| len.div_ceil(2), ..TRUTH },
    Lies { name: "never divisible", should_be_divided: Some(false), ..TRUTH },
    Lies { name: "always divisible", should_be_divided: Some(true), ..TRUTH },
];

/// Lies that lose items.
const LOSSY: [Lies; 4] = [
    Lies { name: "empty", size: |_| 0, ..TRUTH },
    Lies { name: "empty, but divisible", size: |_| 0, should_be_divided: Some(true), ..TRUTH },
    Lies { name: "nearly empty", size: |len| len.saturating_sub(5), ..TRUTH },
    Lies { name: "cut anywhere", cut: |at| at * 7 % 5, size: |len| len / 3, should_be_divided: Some(true) },
];

/// Lies that make std panic.
const FATAL: [Lies; 2] = [
    Lies { name: "cut out of range", cut: |at| at + ITEMS, ..TRUTH },
    Lies { name: "much too long, cut as asked for", size: |_| 1 << 40, ..TRUTH },
];

struct Liar {
    items: Vec<usize>,
    lies: Lies,
    /// Whether a cut is limited to the items that exist.
    careful: bool,
}

impl Divisible for Liar {
    fn size(&self) -> usize {
        (self.lies.size)(self.items.len())
    }
    fn should_be_divided(&self) -> bool {
        self.lies.should_be_divided.unwrap_or(self.size() > 1)
    }
    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let cut = (self.lies.cut)(index);
        let cut = if self.careful { cut.min(self.items.len()) } else { cut };
        let right = self.items.split_off(cut);
        (Liar { ..self }, Liar { items: right, lies: self.lies, careful: self.careful })
    }
}

impl IntoIterator for Liar {
    type Item = usize;
    type IntoIter = std::vec::IntoIter<usize>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl Producer for Liar {
    const FACTS: Facts = Facts::ITEMS;
}

/// Every outcome for these lies: each policy in each place, whole leaves and steps, at even depths and anywhere.
fn outcomes(lies: Lies, careful: bool, mut check: impl FnMut(Result<Vec<usize>, ()>) + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let all = move || {
        let whole = || Liar { items: (0..ITEMS).collect(), lies, careful };
        for place in Place::ALL {
            for policy in entries().into_iter().map(|entry| entry.policy) {
                let chain = Both::new(policy::EvenLevels, policy.clone());
                let joined = || place.run(Join, whole(), chain, Collect);
                check(catch_unwind(AssertUnwindSafe(joined)).map_err(drop));
                let watched = || place.run(Join, whole(), policy, CollectInSteps);
                check(catch_unwind(AssertUnwindSafe(watched)).map_err(drop));
            }
            let watched = || place.run(Sequential, whole(), policy::Auto::new(), CollectInSteps);
            check(catch_unwind(AssertUnwindSafe(watched)).map_err(drop));
            let in_blocks =
                || place.run(ByBlocks::new(Join, Doubling), whole(), policy::Auto::new(), Collect);
            check(catch_unwind(AssertUnwindSafe(in_blocks)).map_err(drop));
            let in_blocks =
                || place.run(ByBlocks::new(Join, [1; 9]), whole(), policy::SizeLimit::new(1), CollectInSteps);
            check(catch_unwind(AssertUnwindSafe(in_blocks)).map_err(drop));
            let ones = ByBlocks::new(Sequential, std::iter::repeat(0));
            check(
                catch_unwind(AssertUnwindSafe(|| place.run(ones, whole(), policy::Auto::new(), Collect)))
                    .map_err(drop),
            );
            let watched = || place.run(ByTerminal, whole(), policy::Auto::new(), CollectInSteps);
            check(catch_unwind(AssertUnwindSafe(watched)).map_err(drop));
            let ones = ByBlocks::new(Join, std::iter::repeat(1));
            let backward = || place.run(ones, whole(), policy::Auto::new(), CollectBackward);
            check(catch_unwind(AssertUnwindSafe(backward)).map_err(drop));
        }
        done.send(()).unwrap();
    };
    let thread = std::thread::spawn(all);
    match is_done.recv_timeout(Duration::from_secs(60)) {
        Ok(()) => thread.join().unwrap(),
        Err(mpsc::RecvTimeoutError::Disconnected) => std::panic::resume_unwind(thread.join().unwrap_err()),
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{}: some computation does not end", lies.name),
    }
}

#[test]
fn a_wrong_size_alone_loses_nothing() {
    for lies in HARMLESS {
        outcomes(lies, true, move |outcome| {
            assert_eq!(outcome, Ok((0..ITEMS).collect()), "{}", lies.name);
        });
    }
}

#[test]
fn what_calls_itself_empty_may_be_lost_but_not_doubled() {
    for lies in LOSSY {
        outcomes(lies, true, move |outcome| {
            let items = outcome.unwrap_or_else(|()| panic!("{}", lies.name));
            assert!(items.windows(2).all(|pair| pair[0] < pair[1]), "{}: {items:?}", lies.name);
        });
    }
}

#[test]
fn a_cut_out_of_range_reaches_the_caller_as_a_panic() {
    for lies in FATAL {
        let (count, counted) = mpsc::channel();
        outcomes(lies, false, move |outcome| match outcome {
            Ok(items) => assert_eq!(items, (0..ITEMS).collect::<Vec<_>>(), "{}", lies.name),
            Err(()) => count.send(()).unwrap(),
        });
        assert!(counted.iter().count() > 50, "{}: divided and panicked", lies.name);
    }
}
