//! Every ordered pair of adaptors from `u64` to `u64`, as a parallel chain and as a sequential iterator.
//!
//! The module that uses [`pairs!`](crate::pairs) imports `interleave` and `proptest`, and defines the trait `Chain` of the chains that a second adaptor follows, the strategy `any_schedule`, and
//! `drive(chain, &schedule)`, which runs a chain and collects it.

/// Declares a test for each pair. Adaptors marked `indexed` can be followed by any other. The arguments are more second adaptors, which not
/// every module can run; behind `only`, they are all second adaptors.
#[macro_export]
macro_rules! pairs {
    (@then { $($second:ident: |$it:ident| $par:expr, $seq:expr;)+ }) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(32))]
            $(
                #[test]
                fn $second(v in proptest::collection::vec(0..100_u64, 0..300), schedule in any_schedule()) {
                    let expected: Vec<u64> = {
                        let $it = seq(&v).into_iter();
                        $seq.collect()
                    };
                    let collected = {
                        let $it = par(&v);
                        drive($par, &schedule)
                    };
                    prop_assert_eq!(&collected, &expected);
                }
            )+
        }
    };
    (@first indexed { $($indexed:ident: |$i:ident| $i_par:expr, $i_seq:expr;)+ }
     last $last:tt) => {
        $(
            mod $indexed {
                use super::*;

                fn par<'v>(v: &'v [u64]) -> impl Chain + 'v {
                    let $i = v.par_iter().copied();
                    $i_par
                }
                fn seq(v: &[u64]) -> Vec<u64> {
                    let $i = v.iter().copied();
                    $i_seq.collect()
                }

                $crate::pairs!(@then $last);
            }
        )+
    };
    (only $($last:tt)*) => {
        $crate::pairs!(@after { $($last)* });
    };
    (@after $last:tt) => {
        $crate::pairs! {
            @first indexed {
                map: |it| it.map(|x| x * 3 + 1), it.map(|x| x * 3 + 1);
                enumerate: |it| it.enumerate().map(|(i, x)| i as u64 * 100 + x), it.enumerate().map(|(i, x)| i as u64 * 100 + x);
                rev: |it| it.rev(), it.rev();
                zip: |it| it.clone().zip(it.skip(1)).map(|(a, b)| a * 100 + b), it.clone().zip(it.skip(1)).map(|(a, b)| a * 100 + b);
                skip_take: |it| it.skip(3).take(100), it.skip(3).take(100);
                step_by: |it| it.step_by(3), it.step_by(3);
                chain: |it| it.clone().chain(it), it.clone().chain(it);
                chunks: |it| it.chunks(7).map(|c| c.into_iter().sum()), it.collect::<Vec<_>>().chunks(7).map(|c| c.iter().sum()).collect::<Vec<_>>().into_iter();
                map_init: |it| it.map_init(|| 1, |one, x| x + *one), it.map(|x| x + 1);
            }
            last $last
        }
    };
    ($($more:tt)*) => {
        $crate::pairs! {
            @after {
                $($more)*
                then_map: |it| it.map(|x| x ^ 5), it.map(|x| x ^ 5);
                then_filter: |it| it.filter(|x| x % 3 == 0), it.filter(|x| x % 3 == 0);
                then_filter_map: |it| it.filter_map(|x| x.checked_sub(50)), it.filter_map(|x| x.checked_sub(50));
                then_flat_map_iter: |it| it.flat_map_iter(|x| 0..x % 4), it.flat_map(|x| 0..x % 4);
                then_rev: |it| it.rev(), it.rev();
                then_enumerate: |it| it.enumerate().map(|(i, x)| i as u64 + x), it.enumerate().map(|(i, x)| i as u64 + x);
                then_skip: |it| it.skip(5), it.skip(5);
                then_take: |it| it.take(17), it.take(17);
                then_step_by: |it| it.step_by(2), it.step_by(2);
                then_chain: |it| it.clone().chain(it.filter(|x| x % 2 == 0)), it.clone().chain(it.filter(|x| x % 2 == 0));
                then_chunks: |it| it.chunks(4).map(|c| c.iter().fold(0, |a, x| a * 7 + x)), it.collect::<Vec<_>>().chunks(4).map(|c| c.iter().fold(0, |a, x| a * 7 + x));
                then_interleave: |it| it.clone().interleave(it.map(|x| x + 1000)), interleave(it.clone().collect(), it.map(|x| x + 1000).collect()).into_iter();
                then_map_with: |it| it.map_with(7, |seven, x| x * *seven), it.map(|x| x * 7);
            }
        }
    };
}

pub fn interleave(left: Vec<u64>, right: Vec<u64>) -> Vec<u64> {
    left.into_iter().zip(right).flat_map(|(a, b)| [a, b]).collect()
}
