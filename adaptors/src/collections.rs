//! The collections of `std::collections`.
//!
//! Collections without positions (maps, sets, lists) cannot be cut. When the parallel iterator is made, their items, or
//! references to them, are first written to a vector, sequentially. The cost in time and memory is proportional to the
//! number of items, and pays off if the work on each item is worth more than that.
//!
//! ```
//! use furcate::prelude::*;
//! use std::collections::BTreeMap;
//!
//! let mut stock = BTreeMap::from([("apples", 3), ("pears", 4)]);
//! stock.par_iter_mut().for_each(|(_, count)| *count += 1);
//! assert_eq!(stock.par_iter().map(|(_, count)| count).sum::<i32>(), 9);
//! let names: Vec<&str> = stock.into_par_iter().map(|(name, _)| name).collect();
//! assert_eq!(names, ["apples", "pears"]);
//! ```

pub mod binary_heap;
pub mod btree_map;
pub mod btree_set;
pub mod hash_map;
pub mod hash_set;
pub mod linked_list;
pub mod vec_deque;

/// Declares a parallel iterator over a vector into which a collection is written first. The type parameter behind `any`
/// belongs to the collection alone.
macro_rules! through_vec {
    (
        $(#[$attribute:meta])*
        $Name:ident<$($life:lifetime,)? $($T:ident: $Bound:ident),+> over $Item:ty,
        from $Source:ty $(, any $S:ident)?
    ) => {
        $crate::iter::newtype_iterator! {
            $(#[$attribute])*
            $Name<$($life,)? $($T: $Bound),+>($crate::vec::IntoIter<$Item>);
            from[$($S)?] $Source => $Item = |source| Vec::from_iter(source).into_par_iter()
        }
    };
}
use through_vec;
