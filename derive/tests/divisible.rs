//! The code that `#[derive(Divisible)]` generates, used as a user would use it.
#![deny(warnings, unused_qualifications, single_use_lifetimes, private_bounds, private_interfaces)]

use furcate::Divisible;
use std::ops::Range;

/// Compares all four methods of a derived type with another implementation of the same, for every cut.
#[track_caller]
fn assert_same<D, E, F>(derived: D, expected: E, view: F)
where
    D: Divisible + Clone,
    E: Divisible + Clone + std::fmt::Debug + PartialEq,
    F: Fn(D) -> E,
{
    let both = |(left, right)| (view(left), view(right));
    assert_eq!(derived.size(), expected.size());
    assert_eq!(derived.should_be_divided(), expected.should_be_divided());
    assert_eq!(both(derived.clone().divide()), expected.clone().divide());
    for index in 0..=expected.size() + 1 {
        assert_eq!(both(derived.clone().divide_at(index)), expected.clone().divide_at(index), "at {index}");
    }
}

#[derive(Clone, Divisible)]
struct Two<'a> {
    numbers: Range<u32>,
    letters: &'a [char],
}

#[test]
fn several_fields_are_cut_as_a_tuple_is() {
    for numbers in 0..4 {
        for letters in 0..4 {
            let two = Two { numbers: 0..numbers, letters: &['a', 'b', 'c', 'd'][..letters] };
            let tuple = (two.numbers.clone(), two.letters);
            assert_same(two, tuple, |two| (two.numbers, two.letters));
        }
    }
}

#[derive(Clone, Divisible)]
struct One<'a>(&'a str, #[divide_by(clone)] u8);

#[test]
fn one_field_chooses_its_own_middle() {
    // Half of the bytes lies in the "ñ": a cut there moves to its end, where nothing would be left to the right.
    for text in ["", "a", "ñ", "abc", "añ", "ññ", "a→"] {
        assert_same(One(text, 3), text, |one| one.0);
    }
    let (left, right) = One("a→", 3).divide();
    assert_eq!((left.0, right.0), ("a", "→"));
}

/// A value of one unit that, like a string, chooses its own cuts.
#[derive(Clone, Debug, PartialEq)]
struct Stubborn(usize);

impl Divisible for Stubborn {
    fn size(&self) -> usize {
        self.0
    }
    fn should_be_divided(&self) -> bool {
        false
    }
    fn divide_at(self, index: usize) -> (Self, Self) {
        (Stubborn(index), Stubborn(self.0 - index))
    }
}

#[test]
fn all_divided_fields_must_agree_to_be_divided() {
    #[derive(Divisible)]
    struct Both(Range<usize>, Stubborn);
    assert!(!Both(0..9, Stubborn(9)).should_be_divided());
    let (left, right) = Both(0..9, Stubborn(7)).divide();
    assert_eq!((left.0, left.1, right.0, right.1), (0..3, Stubborn(3), 3..9, Stubborn(4)));
}

#[test]
fn the_largest_size_is_no_problem() {
    #[derive(Divisible)]
    struct Huge(Range<u128>, Range<u64>);
    let huge = Huge(0..u128::MAX, 0..u64::MAX);
    assert_eq!(huge.size(), usize::MAX);
    let (left, right) = huge.divide();
    assert_eq!((left.1.end, right.1.start), (u64::MAX / 2, u64::MAX / 2));
}

#[test]
fn clones_go_to_the_left_and_what_is_accumulated_stays_there() {
    #[derive(Debug, PartialEq)]
    struct Copied(&'static str);
    impl Clone for Copied {
        fn clone(&self) -> Self {
            Copied("clone")
        }
    }
    #[derive(Divisible)]
    struct Work {
        #[divide_by(default)]
        done: Vec<u8>,
        rest: Range<u8>,
        #[divide_by(clone)]
        how: Copied,
    }
    let (left, right) = Work { done: vec![1, 2], rest: 3..9, how: Copied("original") }.divide_at(2);
    assert_eq!((left.done, left.rest, left.how), (vec![1, 2], 3..5, Copied("clone")));
    assert_eq!((right.done, right.rest, right.how), (vec![], 5..9, Copied("original")));
}

mod generics {
    use super::*;

    #[derive(Divisible)]
    struct Private<D>(D);

    /// The conditions of its implementation name a private type.
    #[derive(Divisible)]
    pub(crate) struct Kept<'a, 'b, D, S, F: Fn(&S) -> bool = fn(&S) -> bool, const N: usize = 1>
    where
        S: Copy + 'a,
        'b: 'a,
    {
        inner: Option<Private<D>>,
        slice: &'a mut [S],
        #[divide_by(clone)]
        keep: F,
        #[divide_by(default)]
        found: Vec<S>,
        #[divide_by(clone)]
        names: [&'b str; N],
    }

    #[test]
    fn everything_is_kept_and_conditions_are_added_where_needed() {
        let mut data = [1, 2, 3, 4];
        let kept = Kept {
            inner: Some(Private(0..4)),
            slice: &mut data,
            keep: |x: &i32| x % 2 == 0,
            found: vec![0],
            names: ["even"],
        };
        let (left, right) = kept.divide();
        let odd: Vec<_> = right.slice.iter().filter(|x| !(right.keep)(x)).copied().collect();
        assert_eq!(odd, [3]);
        assert_eq!((left.inner.unwrap().0, left.found, right.found), (0..2, vec![0], vec![]));
        assert_eq!((left.names, (left.keep)(&2)), (["even"], true));
    }

    #[test]
    fn a_parameter_that_is_not_divisible_is_not_asked_to_be() {
        #[derive(Divisible)]
        struct Phantom<T> {
            rows: Range<usize>,
            #[divide_by(default)]
            of: std::marker::PhantomData<T>,
        }
        struct Nothing;
        let (left, right) = Phantom { rows: 0..4, of: std::marker::PhantomData::<Nothing> }.divide();
        assert_eq!((left.rows, right.rows, right.of), (0..2, 2..4, std::marker::PhantomData));
    }
}

/// The nastiest possible names: no generated code may refer to them.
mod hygiene {
    #![allow(non_camel_case_types, non_upper_case_globals, dead_code)]

    pub(super) struct usize;
    pub(super) struct bool;
    pub(super) struct Clone;
    pub(super) struct Default;
    pub(super) struct Ord;
    pub(super) trait Divisible {
        fn size(&self) -> u8 {
            0
        }
        fn divide(&self) {}
        fn divide_at(&self, _: u8) {}
    }
    impl<T> Divisible for T {}
    const index: u8 = 0;
    const left: u8 = 0;
    const right: u8 = 0;
    mod furcate {}
    mod core {}

    #[derive(::furcate::Divisible)]
    pub(super) struct Nasty<'r#type, r#fn> {
        pub(super) r#struct: &'r#type [u8],
        pub(super) index: std::ops::Range<u8>,
        pub(super) left: r#fn,
        #[divide_by(clone)]
        pub(super) r#type: r#fn,
        #[divide_by(default)]
        pub(super) size: u8,
        #[divide_by(clone)]
        pub(super) divide: (),
    }

    /// Methods of the same names, which method calls would prefer.
    impl<r#fn> Nasty<'_, r#fn> {
        fn size(&self) -> u8 {
            0
        }
    }
}

#[test]
fn names_do_not_collide() {
    let nasty = hygiene::Nasty {
        r#struct: &[1, 2, 3, 4][..],
        index: 0..4,
        left: 0..5_u64,
        r#type: 7..8,
        size: 9,
        divide: (),
    };
    assert_eq!(Divisible::size(&nasty), 4);
    let (left, right) = Divisible::divide(nasty);
    assert_eq!((left.r#struct, right.index, right.left), (&[1, 2][..], 2..4, 2..5));
    assert_eq!((left.r#type, left.size, right.size, right.divide), (7..8, 9, 0, ()));
}

#[test]
fn deprecated_fields_do_not_warn() {
    #[derive(Divisible)]
    struct Old {
        rows: Range<u8>,
        #[deprecated]
        #[divide_by(clone)]
        columns: u8,
    }
    #[expect(deprecated)]
    let (left, _) = Old { rows: 0..2, columns: 3 }.divide();
    assert_eq!(left.rows, 0..1);
}

#[test]
fn macros_can_derive() {
    macro_rules! pair {
        ($name:ident, $field:ident: $ty:ty) => {
            #[derive(Divisible)]
            struct $name {
                $field: $ty,
                other: $ty,
            }
        };
    }
    pair!(Pair, one: Range<u8>);
    let (left, right) = Pair { one: 0..2, other: 0..4 }.divide();
    assert_eq!((left.one, left.other, right.one, right.other), (0..1, 0..1, 1..2, 1..4));
}

mod renamed {
    extern crate furcate as fork;

    #[derive(fork::Divisible)]
    #[divide_by(crate = fork)]
    pub(super) struct Rows<D>(pub(super) D, #[divide_by(default)] pub(super) D);
}

#[test]
fn the_crate_may_go_by_another_name() {
    let (left, right) = renamed::Rows(0..4, 0..9).divide();
    assert_eq!((left.0, left.1, right.0, right.1), (0..2, 0..9, 2..4, 0..0));
}

/// The purpose of the macro: the struct is the source of a parallel computation.
#[test]
fn a_derived_struct_runs_under_every_policy() {
    use furcate::prelude::*;
    #[derive(Divisible)]
    struct Dot<'a>(&'a [u64], &'a [u64]);
    let (v, w): (Vec<u64>, Vec<u64>) = ((0..1000).collect(), (5..1005).collect());
    let expected: u64 = v.iter().zip(&w).map(|(x, y)| x * y).sum();
    let dot = |Dot(v, w): Dot<'_>| v.iter().zip(w).map(|(x, y)| x * y).sum::<u64>();
    assert_eq!(Dot(&v, &w).wrap_iter().map(dot).sum::<u64>(), expected);
    assert_eq!(Dot(&v, &w).wrap_iter().even_levels().size_limit(10).map(dot).sum::<u64>(), expected);
}
