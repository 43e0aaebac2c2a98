//! Atomics: std's, whose accesses take the time of a simulated machine, and are places where another virtual thread may go on.

use crate::world::{self, Access, access};
use std::fmt;
use std::panic::Location;
pub use std::sync::atomic::Ordering;
use std::sync::atomic::Ordering::SeqCst;

/// As [`std::sync::atomic::fence`].
pub fn fence(order: Ordering) {
    std::sync::atomic::fence(order);
    if order == SeqCst {
        world::with(|world| world.into_iter().for_each(world::World::fence));
    }
}

/// As a system call that makes all threads of the process pass a full fence.
#[track_caller]
pub fn heavy_fence() {
    let at = Location::caller();
    std::sync::atomic::fence(SeqCst);
    world::with(|world| world.into_iter().for_each(|world| world.heavy_fence(at)));
}

macro_rules! atomic {
    ($(#[$attribute:meta])* $name:ident, $value:ty $(, $parameter:ident)?) => {
        $(#[$attribute])*
        #[repr(transparent)]
        pub struct $name$(<$parameter>)?(std::sync::atomic::$name$(<$parameter>)?);

        impl$(<$parameter>)? $name$(<$parameter>)? {
            #[doc = concat!("As std's `", stringify!($name), "::new`.")]
            #[must_use]
            pub const fn new(value: $value) -> Self {
                $name(std::sync::atomic::$name::new(value))
            }

            /// As std's method; an access of the machine.
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                access(self, Access::Load);
                self.0.load(order)
            }

            /// As std's method; an access of the machine.
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                access(self, if order == SeqCst { Access::Swap } else { Access::Store });
                self.0.store(value, order);
            }

            /// As std's method; an access of the machine.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                access(self, Access::Swap);
                self.0.swap(value, order)
            }

            /// As std's method; an access of the machine.
            ///
            /// # Errors
            ///
            /// As std's method.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(&self, current: $value, new: $value, success: Ordering, failure: Ordering) -> Result<$value, $value> {
                access(self, Access::Swap);
                self.0.compare_exchange(current, new, success, failure)
            }

            /// As std's method; an access of the machine. Fails only if the value is another one.
            ///
            /// # Errors
            ///
            /// As std's method.
            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(&self, current: $value, new: $value, success: Ordering, failure: Ordering) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// As std's method; two accesses of the machine or more.
            ///
            /// # Errors
            ///
            /// As std's method.
            #[track_caller]
            pub fn fetch_update(&self, set_order: Ordering, fetch_order: Ordering, mut f: impl FnMut($value) -> Option<$value>) -> Result<$value, $value> {
                let mut before = self.load(fetch_order);
                while let Some(next) = f(before) {
                    match self.compare_exchange_weak(before, next, set_order, fetch_order) {
                        Ok(before) => return Ok(before),
                        Err(now) => before = now,
                    }
                }
                Err(before)
            }

            /// As std's method.
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// As std's method.
            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }
        }

        impl$(<$parameter>)? fmt::Debug for $name$(<$parameter>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl$(<$parameter>)? From<$value> for $name$(<$parameter>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

macro_rules! changed_by {
    ($name:ident, $value:ty: $($method:ident),*) => {
        impl $name {
            $(
                /// As std's method; an access of the machine.
                #[inline]
                #[track_caller]
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    access(self, Access::Swap);
                    self.0.$method(value, order)
                }
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(<$value>::default())
            }
        }
    };
}

macro_rules! integers {
    ($($name:ident, $value:ty;)*) => { $(
        atomic!(#[doc = concat!("As [`std::sync::atomic::", stringify!($name), "`].")] $name, $value);
        changed_by!($name, $value: fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor, fetch_max, fetch_min);
    )* };
}

integers! {
    AtomicUsize, usize;
    AtomicIsize, isize;
    AtomicU64, u64;
    AtomicI64, i64;
    AtomicU32, u32;
    AtomicI32, i32;
    AtomicU8, u8;
}
atomic!(
    /// As [`std::sync::atomic::AtomicBool`].
    AtomicBool, bool
);
changed_by!(AtomicBool, bool: fetch_and, fetch_or, fetch_xor);
atomic!(
    /// As [`std::sync::atomic::AtomicPtr`].
    AtomicPtr, *mut T, T
);

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}
