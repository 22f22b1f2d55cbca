//! Mintlify's analytics reports and the gateway's daily archive.

mod archived_views;
mod caller_stats;
mod conversation;
mod conversations;
mod daily_views;
#[cfg(feature = "gateway")]
mod exports;
mod feedback;
mod feedback_by_page;
mod feedback_filter;
mod searches;
mod views;
mod visitors;

pub use archived_views::*;
pub use caller_stats::*;
pub use conversation::*;
pub use conversations::*;
pub use daily_views::*;
#[cfg(feature = "gateway")]
#[doc(hidden)]
pub use exports::*;
pub use feedback::*;
pub use feedback_by_page::*;
pub use feedback_filter::*;
pub use searches::*;
pub use views::*;
pub use visitors::*;
