//! Every program on every loop.

use super::*;
use furcate::{Adaptive, DepJoin, Join};

fn agree(program: &impl Nested) {
    let expected = program.run(&Serial);
    assert_eq!(program.run(&Rayon), expected);
    for single in [false, true] {
        agree_on(program, expected, Furcate { scheduler: Join, single });
        agree_on(program, expected, Furcate { scheduler: DepJoin, single });
        agree_on(program, expected, Furcate { scheduler: Adaptive::new(), single });
    }
}

fn agree_on<S: Scheduler + Sync>(program: &impl Nested, expected: u64, furcate: Furcate<S>) {
    for threads in 1..=3 {
        let pool = furcate::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| program.run(&furcate)), expected);
        let counters = Counters::default();
        let counted = Counted { furcate: furcate.clone(), counters: &counters };
        assert_eq!(pool.install(|| program.run(&counted)), expected);
        let joins = counters.outstanding_joins().len();
        assert_eq!(counters.late_joins().len(), joins);
        assert!(threads > 1 || joins == 0, "nobody is there to steal");
        assert!(!counters.late_calls().is_empty(), "every loop is a call");
    }
}

#[test]
fn recpfor() {
    agree(&RecPFor(16));
    agree(&RecPFor(256));
}

#[test]
fn lcs() {
    agree(&Lcs::new(64, 32));
    agree(&Lcs::new(256, 8));
}
