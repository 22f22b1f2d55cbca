//! Every operation that the project supports.

use crate::agent_job::{
    CreateAgentJob, DeleteAgentJobRecord, GetAgentJob, SendMessage, StreamAgentJobEvents,
};
use crate::analytics::{
    GetCallerStats, GetConversation, GetFeedbackByPage, ListConversations, ListFeedback,
    ListPageViews, ListSearches, ListVisitors,
};
use crate::declaration::{Declaration, Documentation};
use crate::endpoint::Endpoint;
use crate::job_list::ListAgentJobs;
use crate::schema::{Described, Kind};

/// Lists the operations: what is matched on [`Operation`] and forgets one does not compile.
macro_rules! operations {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// An operation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operation {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Operation {
            /// Every operation.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// What it is.
            #[must_use]
            pub const fn declaration(self) -> &'static Declaration {
                match self {
                    $(Self::$name => const { &<$name as Endpoint>::DECLARATION },)+
                }
            }

            /// What people read about it.
            #[must_use]
            pub const fn documentation(self) -> &'static Documentation {
                match self {
                    $(Self::$name => const { &<$name as Endpoint>::DOCUMENTATION },)+
                }
            }

            /// The type of a success's body.
            #[must_use]
            pub const fn result(self) -> &'static Kind {
                match self {
                    $(Self::$name => &<<$name as Endpoint>::Output as Described>::KIND,)+
                }
            }
        }
    };
}

operations! {
    /// [`CreateAgentJob`].
    CreateAgentJob,
    /// [`GetAgentJob`].
    GetAgentJob,
    /// [`SendMessage`].
    SendMessage,
    /// [`ListAgentJobs`].
    ListAgentJobs,
    /// [`StreamAgentJobEvents`].
    StreamAgentJobEvents,
    /// [`DeleteAgentJobRecord`].
    DeleteAgentJobRecord,
    /// [`ListPageViews`].
    ListPageViews,
    /// [`ListVisitors`].
    ListVisitors,
    /// [`ListFeedback`].
    ListFeedback,
    /// [`GetFeedbackByPage`].
    GetFeedbackByPage,
    /// [`ListSearches`].
    ListSearches,
    /// [`ListConversations`].
    ListConversations,
    /// [`GetConversation`].
    GetConversation,
    /// [`GetCallerStats`].
    GetCallerStats,
}

impl Operation {
    /// The operation of this name. `pageViews.list` is what [`Self::ListPageViews`] was called
    /// before there were other reports.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = match name {
            "pageViews.list" => Self::ListPageViews.declaration().name,
            name => name,
        };
        let mut all = Self::ALL.iter().copied();
        all.find(|operation| operation.declaration().name == name)
    }
}

/// By name.
impl serde::Serialize for Operation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.declaration().name)
    }
}
