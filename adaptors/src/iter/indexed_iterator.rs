//! The skeleton of all iterators that are always indexed: slices, vectors, `rev`, `zip`, `skip`, `chunks` and so on.

/// Implements the traits for an iterator that is always indexed: one producer serves all, and the length is known.
///
/// ```text
/// indexed_iterator! {
///     impl[I] Skip<I> where [I: IndexedParallelIterator]
///     schedule of base: I;                         // whose policy, scheduler and executor count; of two: `first: I, before second: J`; if each unit
///                                                  // is several ones of the base: `base: I, in batches of field`; a source has no such line
///     type Item = I::Item;
///     type Producer<'a> = I::IndexedProducer<'a>;
///     fn len(this) { .. }                          // of `this: &Self`
///     fn lend(this) { .. }                         // of `this: &mut Self`: the producer
///     peek where [T: Clone]                        // if its items can be looked at, and what that needs besides
/// }
/// ```
///
/// An adaptor over one base or two has a producer that is made of theirs, and its items can be looked at if theirs can:
///
/// ```text
/// indexed_iterator! {
///     impl[I] Rev<I> where over base;              // or `over first and second`, or `over base in batches of field`, as above
///     type Item = I::Item;
///     type Producer<P> = RevProducer<P>;
///     fn len(this) { .. }
///     fn lend(this, base) { .. }                   // of `this: &mut Self`, without its bases, and `base: P`
/// }
/// ```
macro_rules! indexed_iterator {
    (@schedule) => {
        $crate::iter::default_schedule!();
    };
    (@schedule $base:ident: $I:ty, of $units:ident) => {
        $crate::iter::change_schedule!($base: $I, |this, base| furcate_schedulers::Plan {
            policy: furcate_schedulers::Policy::in_batches(base.policy, this.$units),
            ..base
        } => furcate_schedulers::PlanOf<<$I as $crate::iter::ParallelIterator>::Schedule>);
    };
    (@schedule $($inherit:tt)*) => {
        $crate::iter::inherit_schedule!($($inherit)*);
    };
    (
        impl[$($generics:tt)*] $Adaptor:ty where [$($bounds:tt)*]
        $(schedule of $base:ident: $I:ty $(, before $second:ident: $J:ty)? $(, in batches of $units:ident)?;)?
        type Item = $Item:ty;
        type Producer<$a:lifetime> = $Producer:ty;
        fn len($by_ref:ident) $len:block
        fn lend($by_mut:ident) $lend:block
        $(peek where [$($peek:tt)*])?
    ) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $Adaptor
        where
            $($bounds)*
        {
            type Item = $Item;
            type Producer<$a>
                = $Producer
            where
                Self: $a;

            $crate::iter::indexed_iterator!(@schedule $($base: $I $(, and $second: $J)? $(, of $units)?)?);

            #[inline]
            fn producer(&mut self) -> Self::Producer<'_> {
                $crate::iter::IndexedParallelIterator::indexed_producer(self)
            }

            #[inline]
            fn opt_len(&self) -> Option<usize> {
                Some($crate::iter::IndexedParallelIterator::len(self))
            }
        }

        impl<$($generics)*> $crate::iter::IndexedParallelIterator for $Adaptor
        where
            $($bounds)*
        {
            type IndexedProducer<$a>
                = $Producer
            where
                Self: $a;

            #[inline]
            fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
                let $by_mut = self;
                $lend
            }

            #[inline]
            #[track_caller]
            fn len(&self) -> usize {
                let $by_ref = self;
                $len
            }
        }

        $crate::iter::indexed_iterator!(@peek [$($generics)*] $Adaptor, [$($bounds)*] $([$($peek)*])?);
    };
    (
        impl[$I:ident $(, $J:ident)?] $Adaptor:ty where over $first:ident $(and $second:ident)? $(in batches of $units:ident)?;
        type Item = $Item:ty;
        type Producer<$P:ident $(, $Q:ident)?> = $Producer:ty;
        fn len($by_ref:ident) $len:block
        fn lend($by_mut:ident, $p:ident $(, $q:ident)?) $lend:block
    ) => {
        const _: () = {
            type Lent<$P $(, $Q)?> = $Producer;

            $crate::iter::indexed_iterator! {
                impl[$I $(, $J)?] $Adaptor
                where [$I: $crate::iter::IndexedParallelIterator $(, $J: $crate::iter::IndexedParallelIterator)?]
                schedule of $first: $I $(, before $second: $J)? $(, in batches of $units)?;
                type Item = $Item;
                type Producer<'a> = Lent<$I::IndexedProducer<'a> $(, $J::IndexedProducer<'a>)?>;
                fn len($by_ref) $len
                fn lend($by_mut) {
                    let $p = $by_mut.$first.indexed_producer();
                    $(let $q = $by_mut.$second.indexed_producer();)?
                    $lend
                }
            }

            impl<$I $(, $J)?> $crate::iter::PeekParallelIterator for $Adaptor
            where
                $I: $crate::iter::PeekParallelIterator,
                $($J: $crate::iter::PeekParallelIterator,)?
            {
                type PeekProducer<'a>
                    = Lent<$I::PeekProducer<'a> $(, $J::PeekProducer<'a>)?>
                where
                    Self: 'a;

                #[inline]
                fn peek_producer(&mut self) -> Self::PeekProducer<'_> {
                    let $by_mut = self;
                    let $p = $by_mut.$first.peek_producer();
                    $(let $q = $by_mut.$second.peek_producer();)?
                    $lend
                }
            }
        };
    };
    (@peek [$($generics:tt)*] $Adaptor:ty, [$($bounds:tt)*]) => {};
    (@peek [$($generics:tt)*] $Adaptor:ty, [$($bounds:tt)*] [$($peek:tt)*]) => {
        impl<$($generics)*> $crate::iter::PeekParallelIterator for $Adaptor
        where
            $($bounds)*,
            $($peek)*
        {
            $crate::iter::indexed_is_peek!();
        }
    };
}
pub(crate) use indexed_iterator;

/// Returns the length of two iterators together.
///
/// # Panics
///
/// If the length does not fit a `usize`.
#[track_caller]
pub(crate) fn total_len(left: usize, right: usize) -> usize {
    left.checked_add(right).expect("a parallel iterator has more than usize::MAX items")
}
