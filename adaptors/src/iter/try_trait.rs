//! The types on which the `try_` methods work: the needed part of std's `Try`, until that is stable.

use std::convert::Infallible;
use std::ops::ControlFlow::{self, Break, Continue};
use std::task::Poll;

mod sealed {
    pub trait Sealed {}
}

/// A type that says *go on* or *enough*: `Option`, `Result`, `ControlFlow`, `Poll<Result<..>>` and
/// `Poll<Option<Result<..>>>`.
///
/// These are the types on which `?` works. The trait cannot be implemented for others. Once std's own trait is stable,
/// it will replace this one.
///
/// ```
/// use furcate::iter::Try;
/// use std::ops::ControlFlow;
///
/// assert_eq!(Some(3).branch(), ControlFlow::Continue(3));
/// assert!(Err::<i32, _>("no").is_failure());
/// assert_eq!(Result::<i32, &str>::from_output(3), Ok(3));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whether to go on",
    note = "the closures of `try_` methods give an `Option`, a `Result` or a `ControlFlow`"
)]
pub trait Try: sealed::Sealed + Sized {
    /// Value with which the computation continues.
    type Output;

    /// Value of a failure.
    type Residual;

    /// Makes a success of a value.
    fn from_output(output: Self::Output) -> Self;

    /// Makes a failure of the residual of another one.
    fn from_residual(residual: Self::Residual) -> Self;

    /// Returns the value of a success, or the residual of a failure.
    fn branch(self) -> ControlFlow<Self::Residual, Self::Output>;

    /// Whether this value is a failure.
    fn is_failure(&self) -> bool;
}

impl<T> sealed::Sealed for Option<T> {}

impl<T> Try for Option<T> {
    type Output = T;
    type Residual = Option<Infallible>;

    #[inline]
    fn from_output(output: T) -> Self {
        Some(output)
    }

    #[inline]
    fn from_residual(residual: Option<Infallible>) -> Self {
        let None = residual;
        None
    }

    #[inline]
    fn branch(self) -> ControlFlow<Option<Infallible>, T> {
        match self {
            Some(output) => Continue(output),
            None => Break(None),
        }
    }

    #[inline]
    fn is_failure(&self) -> bool {
        self.is_none()
    }
}

impl<T, E> sealed::Sealed for Result<T, E> {}

impl<T, E> Try for Result<T, E> {
    type Output = T;
    type Residual = Result<Infallible, E>;

    #[inline]
    fn from_output(output: T) -> Self {
        Ok(output)
    }

    #[inline]
    fn from_residual(residual: Result<Infallible, E>) -> Self {
        let Err(error) = residual;
        Err(error)
    }

    #[inline]
    fn branch(self) -> ControlFlow<Result<Infallible, E>, T> {
        match self {
            Ok(output) => Continue(output),
            Err(error) => Break(Err(error)),
        }
    }

    #[inline]
    fn is_failure(&self) -> bool {
        self.is_err()
    }
}

impl<B, C> sealed::Sealed for ControlFlow<B, C> {}

impl<B, C> Try for ControlFlow<B, C> {
    type Output = C;
    type Residual = ControlFlow<B, Infallible>;

    #[inline]
    fn from_output(output: C) -> Self {
        Continue(output)
    }

    #[inline]
    fn from_residual(residual: ControlFlow<B, Infallible>) -> Self {
        let Break(value) = residual;
        Break(value)
    }

    #[inline]
    fn branch(self) -> ControlFlow<ControlFlow<B, Infallible>, C> {
        match self {
            Continue(output) => Continue(output),
            Break(value) => Break(Break(value)),
        }
    }

    #[inline]
    fn is_failure(&self) -> bool {
        self.is_break()
    }
}

impl<T, E> sealed::Sealed for Poll<Result<T, E>> {}

impl<T, E> Try for Poll<Result<T, E>> {
    type Output = Poll<T>;
    type Residual = Result<Infallible, E>;

    #[inline]
    fn from_output(output: Poll<T>) -> Self {
        output.map(Ok)
    }

    #[inline]
    fn from_residual(residual: Result<Infallible, E>) -> Self {
        let Err(error) = residual;
        Poll::Ready(Err(error))
    }

    #[inline]
    fn branch(self) -> ControlFlow<Result<Infallible, E>, Poll<T>> {
        match self {
            Poll::Pending => Continue(Poll::Pending),
            Poll::Ready(Ok(output)) => Continue(Poll::Ready(output)),
            Poll::Ready(Err(error)) => Break(Err(error)),
        }
    }

    #[inline]
    fn is_failure(&self) -> bool {
        matches!(self, Poll::Ready(Err(_)))
    }
}

impl<T, E> sealed::Sealed for Poll<Option<Result<T, E>>> {}

impl<T, E> Try for Poll<Option<Result<T, E>>> {
    type Output = Poll<Option<T>>;
    type Residual = Result<Infallible, E>;

    #[inline]
    fn from_output(output: Poll<Option<T>>) -> Self {
        output.map(|output| output.map(Ok))
    }

    #[inline]
    fn from_residual(residual: Result<Infallible, E>) -> Self {
        let Err(error) = residual;
        Poll::Ready(Some(Err(error)))
    }

    #[inline]
    fn branch(self) -> ControlFlow<Result<Infallible, E>, Poll<Option<T>>> {
        match self {
            Poll::Pending => Continue(Poll::Pending),
            Poll::Ready(None) => Continue(Poll::Ready(None)),
            Poll::Ready(Some(Ok(output))) => Continue(Poll::Ready(Some(output))),
            Poll::Ready(Some(Err(error))) => Break(Err(error)),
        }
    }

    #[inline]
    fn is_failure(&self) -> bool {
        matches!(self, Poll::Ready(Some(Err(_))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    fn check<T: Try + Clone + Debug + PartialEq>(going_on: &[T], failures: &[T]) {
        for value in going_on {
            assert!(!value.is_failure());
            let Continue(output) = value.clone().branch() else { panic!("{value:?} goes on") };
            assert_eq!(&T::from_output(output), value);
        }
        for value in failures {
            assert!(value.is_failure());
            let Break(residual) = value.clone().branch() else { panic!("{value:?} does not go on") };
            assert_eq!(&T::from_residual(residual), value);
        }
    }

    #[test]
    fn what_is_taken_apart_is_put_together_again() {
        check(&[Some(1)], &[None]);
        check(&[Ok(1)], &[Err("no")]);
        check(&[Continue(1)], &[Break("enough")]);
        check(&[Poll::Pending, Poll::Ready(Ok(1))], &[Poll::Ready(Err("no"))]);
        check(&[Poll::Pending, Poll::Ready(None), Poll::Ready(Some(Ok(1)))], &[Poll::Ready(Some(Err("no")))]);
    }
}
