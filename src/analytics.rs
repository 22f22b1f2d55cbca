//! The reports of the platform's analytics, one file each.

mod views;

pub use views::*;
