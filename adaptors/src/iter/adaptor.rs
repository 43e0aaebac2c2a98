//! The shared parts of all adaptors: their declaration, and the division of their producers.

/// Declares an adaptor: a `base: I` (public for the crate furcate-cluster) and its parameters, with `new`, `Clone` and `Debug`
/// (which shows the base only).
macro_rules! adaptor {
    ($(#[$doc:meta])* $Name:ident<I $(, $Param:ident)*> {
        $($(#[$field_doc:meta])* $field:ident: $Type:ty),* $(,)?
    }) => {
        $(#[$doc])*
        #[must_use = "iterators do nothing until a terminal drives them"]
        #[derive(Clone)]
        pub struct $Name<I $(, $Param)*> {
            #[doc(hidden)]
            pub base: I,
            $($(#[$field_doc])* $field: $Type,)*
        }

        impl<I $(, $Param)*> $Name<I $(, $Param)*> {
            pub(crate) fn new(base: I $(, $field: $Type)*) -> Self {
                $Name { base $(, $field)* }
            }

            /// Returns the base and the parameters.
            #[allow(dead_code, reason = "not asked of every adaptor")]
            pub(crate) fn into_parts(self) -> (I, $($Type,)*) {
                (self.base, $(self.$field,)*)
            }
        }

        $crate::iter::debug_base!($Name<I, $($Param),*>);
    };
}
pub(crate) use adaptor;

/// Implements `divide` and `divide_at` for a producer with a base `P`, by its method `cut`. That method is told how to
/// cut the base, and cuts everything else at the same place.
macro_rules! divide_by_cut {
    ($P:ident) => {
        #[inline]
        fn divide(self) -> (Self, Self) {
            self.cut($P::divide)
        }

        #[inline]
        fn divide_at(self, index: usize) -> (Self, Self) {
            self.cut(|base| base.divide_at(index))
        }
    };
}
pub(crate) use divide_by_cut;
