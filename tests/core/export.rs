//! The rows of an export and its progress across pages.

mod rows;
mod run;
