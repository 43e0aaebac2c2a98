//! Binary heaps, in the heap's order.

use crate::iter::{IntoParallelIterator, ParallelDrainFull, clone_base, newtype_iterator};
use crate::{slice, vec};
use std::collections::BinaryHeap;
use std::marker::PhantomData;

newtype_iterator! {
    /// A parallel iterator over a heap's items by value. It uses the heap's vector, which is not copied.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let heap = std::collections::BinaryHeap::from([1, 2, 3]);
    /// let it: furcate::collections::binary_heap::IntoIter<_> = heap.into_par_iter();
    /// assert_eq!(it.sum::<i32>(), 6);
    /// ```
    #[derive(Clone, Debug)]
    IntoIter<T: Send>(vec::IntoIter<T>), indexed;
    from[] BinaryHeap<T> => T = |source| source.into_vec().into_par_iter()
}

newtype_iterator! {
    /// A parallel iterator over a heap's items by shared reference. It uses the heap's slice.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let heap = std::collections::BinaryHeap::from([1, 2, 3]);
    /// let it: furcate::collections::binary_heap::Iter<_> = heap.par_iter();
    /// assert_eq!(it.sum::<i32>(), 6);
    /// ```
    #[derive(Debug)]
    Iter<'data, T: Sync>(slice::Iter<'data, T>), indexed;
    from[] &'data BinaryHeap<T> => &'data T = |source| source.as_slice().into_par_iter()
}

clone_base!(Iter<'data, T>);

newtype_iterator! {
    /// A draining parallel iterator: see [`ParallelDrainFull`]. The items are moved to a vector first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut heap = std::collections::BinaryHeap::from([1, 2, 3]);
    /// let it: furcate::collections::binary_heap::Drain<_> = heap.par_drain();
    /// assert_eq!(it.sum::<i32>(), 6);
    /// assert!(heap.is_empty());
    /// ```
    #[derive(Debug)]
    Drain<'data, T: Send>(vec::IntoIter<T>, &'data mut BinaryHeap<T>), indexed
}

impl<'data, T: Ord + Send> ParallelDrainFull for &'data mut BinaryHeap<T> {
    type Iter = Drain<'data, T>;
    type Item = T;

    fn par_drain(self) -> Self::Iter {
        Drain { base: Vec::from_iter(self.drain()).into_par_iter(), borrowed: PhantomData }
    }
}
