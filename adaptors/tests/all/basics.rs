//! The adaptors that everything else is built from, against std.

use crate::support::assert_schedules;
use furcate::prelude::*;
use proptest::prelude::*;
use testkit::on_pools;

proptest! {
    #[test]
    fn map_filter(v: Vec<i32>) {
        let expected: Vec<i64> = v.iter().map(|&x| i64::from(x) * 2).filter(|x| x % 3 == 0).collect();
        on_pools(|| {
            assert_schedules!(expected, v.par_iter(), |it| {
                it.map(|&x| i64::from(x) * 2).filter(|x| x % 3 == 0).collect::<Vec<_>>()
            });
        });
    }

    #[test]
    fn zip_enumerate_rev(v: Vec<u8>, w: Vec<u16>) {
        let len = v.len().min(w.len());
        let expected: Vec<_> = v[..len].iter().zip(&w).enumerate().rev().collect();
        on_pools(|| {
            assert_schedules!(expected, v.par_iter(), |it| it.zip(&w).enumerate().rev().collect::<Vec<_>>());
        });
    }
}
