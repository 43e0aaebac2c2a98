//! Parallel iterators that wrap another one, under a name and with documentation of their own.

/// Declares a struct around a base, and forwards the base's items and schedule. A second type in the brackets is a
/// value that the struct borrows besides.
macro_rules! newtype_iterator {
    (
        $(#[$attribute:meta])*
        $Name:ident<$($life:lifetime,)? $($T:ident: $Bound:ident),+>($Base:ty $(, $Borrowed:ty)?)
    ) => {
        $(#[$attribute])*
        #[must_use = "iterators do nothing until a terminal drives them"]
        pub struct $Name<$($life,)? $($T),+> {
            base: $Base,
            $(borrowed: std::marker::PhantomData<$Borrowed>,)?
        }

        impl<$($life,)? $($T: $Bound),+> $crate::iter::ParallelIterator for $Name<$($life,)? $($T),+> {
            $crate::iter::pass_items!(base: $Base);
            $crate::iter::inherit_schedule!(base: $Base);
        }
    };
}
pub(crate) use newtype_iterator;

/// Implements `Clone` for an iterator over shared references, whatever type they refer to.
macro_rules! clone_base {
    ($Name:ident<$life:lifetime, $($T:ident),+>) => {
        impl<$life, $($T),+> Clone for $Name<$life, $($T),+> {
            fn clone(&self) -> Self {
                $Name { base: self.base.clone() }
            }
        }
    };
}
pub(crate) use clone_base;
