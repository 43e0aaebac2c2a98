//! `Copy` for what holds references only.

/// `Clone` and `Copy` for a type that can be copied whatever its parameters are. (Derived, they would ask these to be
/// `Copy`, too, which closures and accumulators mostly are not.)
///
/// ```text
/// copies!(impl[F] AnyHit<'_, F>);
/// ```
macro_rules! copies {
    (impl[$($Param:ident),*] $Type:ty) => {
        impl<$($Param),*> Clone for $Type {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($Param),*> Copy for $Type {}
    };
}
pub(crate) use copies;
