//! Setters of the optional arguments of calls, such as `.limit(10)`.

use crate::agent_job::JobStatus;
use crate::analytics::{
    DayGroup, FeedbackSource, FeedbackStatuses, GetCallerStats, GetFeedbackByPage,
    ListArchivedViews, ListConversations, ListDailyViews, ListFeedback, ListPageViews,
    ListSearches, ListVisitors, PagePath, PathPrefix,
};
use crate::call::Call;
use crate::client::call::{ApiCall, convert};
use crate::client::list::List;
use crate::date::DateBound;
use crate::deployment::ListDeployments;
use crate::error::ValidationError;
use crate::job_list::{JobAuthor, ListAgentJobs, PromptText};
use crate::parameters::{ConversationCursor, Cursor, ParameterGroup};

type Prepared = Result<Call, ValidationError>;

/// Sets an argument. An earlier error remains.
fn set<T>(call: Prepared, value: Result<T, ValidationError>) -> Prepared
where
    Option<T>: ParameterGroup,
{
    let mut call = call?;
    Some(value?).write(&mut call);
    Ok(call)
}

fn set_date(call: Prepared, field: &'static str, date: &str) -> Prepared {
    let mut call = call?;
    let date = DateBound::new(field, date)?;
    call.set(field, date.as_str().to_owned());
    Ok(call)
}

/// Sets an integer, whose bounds the parameter declares.
fn set_integer(call: Prepared, field: &'static str, value: u64) -> Prepared {
    let mut call = call?;
    call.set_integer(field, value)?;
    Ok(call)
}

/// Declares the setters of each call.
macro_rules! setters {
    ($($call:ident<$operation:ident> { $($kind:ident $name:ident $(: $type:ty)?,)+ })+) => {$(
        impl $call<$operation> {
            $(setters!(@ $kind $operation $name $($type)?);)+
        }
    )+};
    (@ value $operation:ident $name:ident $type:ty) => {
        #[doc = concat!("Sets [`", stringify!($name), "`](", stringify!($operation), "::", stringify!($name), ").")]
        ///
        /// # Example
        #[doc = concat!("```\n", include_str!("../../tests/client/examples/daily_views.rs"), "```")]
        pub fn $name<V>(mut self, value: V) -> Self
        where
            V: TryInto<$type, Error: Into<ValidationError>>,
        {
            self.call = set(self.call, convert::<$type>(value));
            self
        }
    };
    (@ integer $operation:ident $name:ident) => {
        #[doc = concat!("Sets [`", stringify!($name), "`](", stringify!($operation), "::", stringify!($name), ").")]
        ///
        /// # Example
        #[doc = concat!("```\n", include_str!("../../tests/client/examples/views.rs"), "```")]
        pub fn $name(mut self, rows: u64) -> Self {
            self.call = set_integer(self.call, stringify!($name), rows);
            self
        }
    };
    (@ dates $operation:ident $name:ident) => {
        #[doc = concat!("Sets the inclusive start of the [`", stringify!($name), "`](", stringify!($operation), "::", stringify!($name), "): a day or a date-time.")]
        ///
        /// # Example
        #[doc = concat!("```\n", include_str!("../../tests/client/examples/views.rs"), "```")]
        pub fn date_from(mut self, date: impl AsRef<str>) -> Self {
            self.call = set_date(self.call, "dateFrom", date.as_ref());
            self
        }

        #[doc = concat!("Sets the exclusive end of the [`", stringify!($name), "`](", stringify!($operation), "::", stringify!($name), "): a day or a date-time.")]
        ///
        /// # Example
        #[doc = concat!("```\n", include_str!("../../tests/client/examples/views.rs"), "```")]
        pub fn date_to(mut self, date: impl AsRef<str>) -> Self {
            self.call = set_date(self.call, "dateTo", date.as_ref());
            self
        }
    };
}

setters! {
    List<ListAgentJobs> {
        value state: JobStatus,
        value author: JobAuthor,
        value text: PromptText,
        integer limit,
        value cursor: Cursor,
    }
    List<ListDeployments> { integer limit, value cursor: Cursor, }
    List<ListPageViews> { dates range, integer limit, integer offset, }
    List<ListVisitors> { dates range, integer limit, integer offset, }
    List<ListFeedback> {
        dates range,
        value source: FeedbackSource,
        value status: FeedbackStatuses,
        integer limit,
        value cursor: Cursor,
    }
    ApiCall<GetFeedbackByPage> {
        dates range,
        value source: FeedbackSource,
        value status: FeedbackStatuses,
        integer limit,
    }
    List<ListSearches> { dates range, integer limit, value cursor: Cursor, }
    List<ListConversations> { dates range, integer limit, value cursor: ConversationCursor, }
    ApiCall<GetCallerStats> { dates range, }
    List<ListDailyViews> {
        value path: PagePath,
        value prefix: PathPrefix,
        value group: DayGroup,
        integer limit,
        value cursor: Cursor,
    }
    List<ListArchivedViews> { integer limit, value cursor: Cursor, }
}
