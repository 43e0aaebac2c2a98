//! `Copy` for types that hold references only.

/// Implements `Clone` and `Copy` for a type that can be copied whatever its parameters are. (Derived implementations
/// would require `Copy` of the parameters, too, but closures and accumulators mostly are not `Copy`.)
///
/// ```text
/// copies!(impl[F] AnyHit<'_, F>);
/// ```
macro_rules! copies {
    (impl[$($generics:tt)*] $Type:ty) => {
        impl<$($generics)*> Clone for $Type {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($generics)*> Copy for $Type {}
    };
}
pub(crate) use copies;
