//! Searches.

use crate::random::{mix, mix_often};
use crate::{Case, Size};
use rayon::prelude::*;

/// One number in 100 fits: many short searches.
pub(super) fn any_common(size: Size) -> Case {
    let searches = size.pick(20_000_u64, 200);
    let fits = |search: u64| move |i: &u64| mix(i ^ search << 32).is_multiple_of(100);
    Case::of(searches, move || {
        let hit =
            |search: &u64| (0..10_000_000_u64).into_par_iter().find_any(fits(*search)).filter(fits(*search));
        (0..searches).filter(|search| hit(search).is_some()).count() as u64
    })
}

/// None fits.
pub(super) fn any_none(size: Size) -> Case {
    let count = size.pick(100_000_000_u64, 100_000);
    Case::of(None, move || (0..count).into_par_iter().find_any(|i| mix_often(*i, 2) < 16))
}

pub(super) fn first_middle(size: Size) -> Case {
    let count = size.pick(200_000_000_u64, 100_000);
    let key = mix(count / 2);
    Case::of(Some(count / 2), move || (0..count).into_par_iter().find_first(|i| mix(*i) == key))
}
