//! Parallel iterators that wrap another one, under a name and with documentation of their own.

/// Declares a struct around a base, and forwards the base's items and schedule, and its positions if it is `indexed`. A second type in the
/// brackets is a value that the struct borrows besides. `from` names a collection that becomes this iterator: with parameters of its own.
macro_rules! newtype_iterator {
    (
        $(#[$attribute:meta])*
        $Name:ident<$($life:lifetime,)? $($T:ident: $Bound:ident),+>($Base:ty $(, $Borrowed:ty)?) $(, $indexed:ident)?
        $(; from[$($S:ident)?] $Source:ty => $Item:ty = |$source:ident| $base:expr)?
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

        $crate::iter::newtype_iterator! { @[$($indexed)?] [$($life,)? $($T: $Bound),+] $Name<$($life,)? $($T),+>, $Base }
        $crate::iter::newtype_iterator! {
            @into [$($life,)? $($T: $Bound),+] $Name, $Name<$($life,)? $($T),+> $(, [$($S)?] $Source, $Item, |$source| $base)?
        }
    };
    (@[] $($rest:tt)*) => {};
    (@[indexed] [$($generics:tt)*] $Type:ty, $Base:ty) => {
        impl<$($generics)*> $crate::iter::IndexedParallelIterator for $Type {
            $crate::iter::pass_indexed!(base: $Base);
        }
    };
    (@into [$($generics:tt)*] $Name:ident, $Type:ty) => {};
    (@into [$($generics:tt)*] $Name:ident, $Type:ty, [$($S:ident)?] $Source:ty, $Item:ty, |$source:ident| $base:expr) => {
        impl<$($generics)*, $($S)?> $crate::iter::IntoParallelIterator for $Source {
            type Iter = $Type;
            type Item = $Item;

            #[inline]
            fn into_par_iter(self) -> Self::Iter {
                let $source = self;
                $Name { base: $base }
            }
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
