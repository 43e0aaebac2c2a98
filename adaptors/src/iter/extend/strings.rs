//! Strings: every task puts a string of its own together, and those are joined in order.

use super::{extended, from_par_iter};
use crate::iter::collect::Lists;
use crate::iter::{IntoParallelIterator, ParallelExtend, ParallelIterator};
use std::borrow::Cow;
use std::collections::LinkedList;
use std::ffi::{OsStr, OsString};

macro_rules! strings {
    ($String:ident::$push:ident, $([$($a:lifetime)?] $Item:ty),+) => {$(
        impl$(<$a>)? ParallelExtend<$Item> for $String {
            fn par_extend<I: IntoParallelIterator<Item = $Item>>(&mut self, items: I) {
                let strings = items.into_par_iter().drive(Lists::new(|string: &$String| string.is_empty()));
                self.reserve(strings.iter().map(|string| string.len()).sum());
                for string in strings {
                    self.$push(&string);
                }
            }

            fn par_extend_lists(&mut self, lists: LinkedList<Vec<$Item>>) {
                self.extend(lists.into_iter().flatten());
            }
        }

        from_par_iter! { [$($a)?] $String: $Item, |items| extended(items); }
    )+};
}

strings!(String::push_str, [] char, ['a] &'a char, ['a] &'a str, [] String, [] Box<str>, ['a] Cow<'a, str>);
strings!(OsString::push, ['a] &'a OsStr, [] OsString, ['a] Cow<'a, OsStr>);

from_par_iter! {
    [] Box<str>: char, |items| String::from_par_iter(items).into();
    ['a] Box<str>: &'a char, |items| String::from_par_iter(items).into();
    ['a] Box<str>: &'a str, |items| String::from_par_iter(items).into();
    [] Box<str>: String, |items| String::from_par_iter(items).into();
    [] Box<str>: Box<str>, |items| String::from_par_iter(items).into();
    ['a] Box<str>: Cow<'a, str>, |items| String::from_par_iter(items).into();
}
