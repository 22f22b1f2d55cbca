//! The reports of the platform's analytics, one file each.

mod views;
mod visitors;

pub use views::*;
pub use visitors::*;
