//! Tests of analytics: queries, pages of reports, exports and the archive.

mod archive;
mod export;
mod page;
mod query;
mod waiting_exports;
