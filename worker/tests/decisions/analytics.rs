//! Analytics tests. They cover report queries, cached report pages, exports and the daily archive.

mod archive;
mod export;
mod page;
mod query;
