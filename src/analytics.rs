//! The reports of the platform's analytics, one file each.

mod feedback;
mod feedback_filter;
mod views;
mod visitors;

pub use feedback::*;
pub use feedback_filter::*;
pub use views::*;
pub use visitors::*;
