//! Tuples: several values cut at the same index.

use crate::Divisible;

macro_rules! tuple {
    ($($name:ident . $index:tt: $left:ident, $right:ident);+) => {
        /// All components are cut at the same index, as by a zip. The size is the smallest component's. The surplus of
        /// a longer component stays in the right part.
        ///
        /// ```
        /// use furcate::Divisible;
        /// let (left, right) = (0..4, &['a', 'b', 'c', 'd'][..]).divide();
        /// assert_eq!(left, (0..2, &['a', 'b'][..]));
        /// assert_eq!(right, (2..4, &['c', 'd'][..]));
        /// ```
        impl<$($name: Divisible),+> Divisible for ($($name,)+) {
            fn size(&self) -> usize {
                [$(self.$index.size()),+].into_iter().min().unwrap_or(0)
            }

            fn should_be_divided(&self) -> bool {
                $(self.$index.should_be_divided())&&+
            }

            fn divide_at(self, index: usize) -> (Self, Self) {
                $(let ($left, $right) = self.$index.divide_at(index);)+
                (($($left,)+), ($($right,)+))
            }
        }
    };
}

tuple!(A.0: a, x);
tuple!(A.0: a, x; B.1: b, y);
tuple!(A.0: a, x; B.1: b, y; C.2: c, z);
tuple!(A.0: a, x; B.1: b, y; C.2: c, z; D.3: d, w);
