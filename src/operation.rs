//! The list of all operations. [`Operation`] has the declaration, the documentation and the result
//! type of each.

#[cfg(feature = "gateway")]
use crate::agent_job::StreamAgentJobEvents;
use crate::agent_job::{CreateAgentJob, GetAgentJob, SendMessage};
use crate::analytics::{
    BeginBackfill, EstimateBackfill, GetArchiveStatus, GetCallerStats, GetConversation,
    GetFeedbackByPage, ListArchivedViews, ListConversations, ListDailyViews, ListFeedback,
    ListPageViews, ListSearches, ListVisitors,
};
#[cfg(feature = "gateway")]
use crate::analytics::{
    ExportConversations, ExportFeedback, ExportPageViews, ExportSearches, ExportVisitors,
};
use crate::automation::RunAutomation;
use crate::declaration::{Declaration, Documentation};
use crate::deployment::{
    CreateDeployment, CreatePreview, DeleteDeploymentRecord, GetDeployment, ListDeployments,
};
#[cfg(feature = "gateway")]
use crate::deployment::{StreamDeploymentEvents, StreamProjectDeploymentEvents};
use crate::endpoint::Endpoint;
use crate::job_list::ListAgentJobs;
#[cfg(feature = "gateway")]
use crate::job_list::StreamProjectJobEvents;
use crate::job_record::{DeleteAgentJobRecord, GetAgentJobRecord};
use crate::schema::{HasJsonType, JsonType};

/// Declares [`Operation`]. Operations after `streamed:` need the feature `gateway`.
macro_rules! operations {
    (
        $($(#[doc = $doc:literal])+ $name:ident,)+
        streamed: $($(#[doc = $own_doc:literal])+ $own:ident,)+
    ) => {
        /// An operation of Mintlify's API or of the gateway.
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
            /// All operations.
            pub const ALL: &'static [Self] = &[
                $(Self::$name,)+
                $(#[cfg(feature = "gateway")] Self::$own,)+
            ];

            /// Returns whether the response is a stream of events or rows instead of one JSON
            /// value.
            #[cfg(feature = "gateway")]
            #[must_use]
            pub const fn is_streamed(self) -> bool {
                matches!(self, $(Self::$own)|+)
            }

            /// Returns the declaration.
            #[must_use]
            pub const fn declaration(self) -> &'static Declaration {
                match self {
                    $(Self::$name => const { &<$name as Endpoint>::DECLARATION },)+
                    $(#[cfg(feature = "gateway")] Self::$own => const { &<$own as Endpoint>::DECLARATION },)+
                }
            }

            /// Returns the documentation.
            #[must_use]
            pub const fn documentation(self) -> &'static Documentation {
                match self {
                    $(Self::$name => const { &<$name as Endpoint>::DOCUMENTATION },)+
                    $(#[cfg(feature = "gateway")] Self::$own => const { &<$own as Endpoint>::DOCUMENTATION },)+
                }
            }

            /// Returns the type of a successful response's body.
            #[must_use]
            pub const fn result(self) -> &'static JsonType {
                match self {
                    $(Self::$name => &<<$name as Endpoint>::Output as HasJsonType>::JSON_TYPE,)+
                    $(#[cfg(feature = "gateway")] Self::$own => &<<$own as Endpoint>::Output as HasJsonType>::JSON_TYPE,)+
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
    /// [`GetAgentJobRecord`].
    GetAgentJobRecord,
    /// [`DeleteAgentJobRecord`].
    DeleteAgentJobRecord,
    /// [`ListDailyViews`].
    ListDailyViews,
    /// [`ListArchivedViews`].
    ListArchivedViews,
    /// [`GetArchiveStatus`].
    GetArchiveStatus,
    /// [`EstimateBackfill`].
    EstimateBackfill,
    /// [`BeginBackfill`].
    BeginBackfill,
    /// [`CreateDeployment`].
    CreateDeployment,
    /// [`GetDeployment`].
    GetDeployment,
    /// [`ListDeployments`].
    ListDeployments,
    /// [`DeleteDeploymentRecord`].
    DeleteDeploymentRecord,
    /// [`CreatePreview`].
    CreatePreview,
    /// [`RunAutomation`].
    RunAutomation,
    streamed:
    /// [`StreamAgentJobEvents`].
    StreamAgentJobEvents,
    /// [`StreamProjectJobEvents`].
    StreamProjectJobEvents,
    /// [`StreamDeploymentEvents`].
    StreamDeploymentEvents,
    /// [`StreamProjectDeploymentEvents`].
    StreamProjectDeploymentEvents,
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
}

impl Operation {
    /// Returns the operation with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|operation| operation.declaration().name == name)
    }
}

/// Serializes the operation as its name.
impl serde::Serialize for Operation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.declaration().name)
    }
}

/// Deserializes an operation from its name.
impl<'de> serde::Deserialize<'de> for Operation {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <String as serde::Deserialize>::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| serde::de::Error::custom("unknown operation"))
    }
}
