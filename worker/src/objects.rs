//! The Durable Objects, and their stores.
//!
//! What has to be exact is read and written without an await in between; rows that belong
//! together are written in one transaction.

mod archive_store;
mod budget_store;
mod idempotency_store;
mod job_search;
mod job_store;
mod org_gate;
mod outbox;
mod page_store;
mod poll_store;
mod project_gate;
mod rpc;
mod schema;
mod session;
mod sockets;
mod staged_page;
#[cfg(test)]
mod tests;

pub use archive_store::{ArchiveStore, StoredProject};
pub use rpc::{
    ExportCall, ExportReply, ListCall, OrgStub, PROBLEM_HEADER, ProjectStub, ReportCall,
    SessionStub, WriteCall, receive,
};
