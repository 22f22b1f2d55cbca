//! Every operation that the project supports.

#[cfg(feature = "gateway")]
use crate::agent_job::StreamAgentJobEvents;
use crate::agent_job::{CreateAgentJob, GetAgentJob, SendMessage};
#[cfg(feature = "gateway")]
use crate::analytics::{BeginBackfill, EstimateBackfill, GetArchiveStatus, ListDailyViews};
#[cfg(feature = "gateway")]
use crate::analytics::{
    ExportConversations, ExportFeedback, ExportPageViews, ExportSearches, ExportVisitors,
};
use crate::analytics::{
    GetCallerStats, GetConversation, GetFeedbackByPage, ListConversations, ListFeedback,
    ListPageViews, ListSearches, ListVisitors,
};
use crate::declaration::{Declaration, Documentation};
use crate::endpoint::Endpoint;
use crate::job_list::ListAgentJobs;
#[cfg(feature = "gateway")]
use crate::job_list::StreamProjectJobEvents;
#[cfg(feature = "gateway")]
use crate::job_record::{DeleteAgentJobRecord, GetAgentJobRecord};
use crate::schema::{Described, Kind};

/// Lists the operations: what is matched on [`Operation`] and forgets one does not compile. Those
/// after `gateway:` are for the gateway alone: without the feature of that name, as in the package's
/// wasm, they are not there.
macro_rules! operations {
    (
        $($(#[doc = $doc:literal])+ $name:ident,)+
        gateway: $($(#[doc = $own_doc:literal])+ $own:ident,)+
    ) => {
        /// An operation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operation {
            $($(#[doc = $doc])+ $name,)+
            $(
                $(#[doc = $own_doc])+
                #[cfg(feature = "gateway")]
                $own,
            )+
        }

        impl Operation {
            /// Every operation.
            pub const ALL: &'static [Self] = &[
                $(Self::$name,)+
                $(#[cfg(feature = "gateway")] Self::$own,)+
            ];

            /// Whether only the gateway carries it out, and no client by its name.
            #[cfg(feature = "gateway")]
            #[must_use]
            pub const fn is_of_gateway(self) -> bool {
                matches!(self, $(Self::$own)|+)
            }

            /// What it is.
            #[must_use]
            pub const fn declaration(self) -> &'static Declaration {
                match self {
                    $(Self::$name => const { &<$name as Endpoint>::DECLARATION },)+
                    $(#[cfg(feature = "gateway")] Self::$own => const { &<$own as Endpoint>::DECLARATION },)+
                }
            }

            /// What people read about it.
            #[must_use]
            pub const fn documentation(self) -> &'static Documentation {
                match self {
                    $(Self::$name => const { &<$name as Endpoint>::DOCUMENTATION },)+
                    $(#[cfg(feature = "gateway")] Self::$own => const { &<$own as Endpoint>::DOCUMENTATION },)+
                }
            }

            /// The type of a success's body.
            #[must_use]
            pub const fn result(self) -> &'static Kind {
                match self {
                    $(Self::$name => &<<$name as Endpoint>::Output as Described>::KIND,)+
                    $(#[cfg(feature = "gateway")] Self::$own => &<<$own as Endpoint>::Output as Described>::KIND,)+
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
    gateway:
    /// [`StreamAgentJobEvents`].
    StreamAgentJobEvents,
    /// [`StreamProjectJobEvents`].
    StreamProjectJobEvents,
    /// [`GetAgentJobRecord`].
    GetAgentJobRecord,
    /// [`DeleteAgentJobRecord`].
    DeleteAgentJobRecord,
    /// [`ExportPageViews`].
    ExportPageViews,
    /// [`ExportVisitors`].
    ExportVisitors,
    /// [`ExportFeedback`].
    ExportFeedback,
    /// [`ExportSearches`].
    ExportSearches,
    /// [`ExportConversations`].
    ExportConversations,
    /// [`ListDailyViews`].
    ListDailyViews,
    /// [`GetArchiveStatus`].
    GetArchiveStatus,
    /// [`EstimateBackfill`].
    EstimateBackfill,
    /// [`BeginBackfill`].
    BeginBackfill,
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

/// By name.
impl<'de> serde::Deserialize<'de> for Operation {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <String as serde::Deserialize>::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| serde::de::Error::custom("unknown operation"))
    }
}
