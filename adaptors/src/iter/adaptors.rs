//! Data adaptors: a file for each.

mod enumerate;
mod filter;
mod map;
mod rev;
mod zip;

pub use enumerate::Enumerate;
pub use filter::Filter;
pub use map::Map;
pub use rev::Rev;
pub use zip::Zip;
