//! Page views: what a request asks for, which pages its answer is cut from, and how fresh that is.

pub mod export;
pub mod page;
pub mod query;
pub mod waiting_exports;
