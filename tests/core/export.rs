//! The rows of an export, and how it goes on from page to page.

mod rows;
mod run;
