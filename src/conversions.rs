//! Conversions of parameter types: from and to strings (`FromStr`, `TryFrom`, `Display`,
//! `AsRef<str>` and serde), and from ranges of dates.
//!
//! Methods of the client take `impl TryInto<T, Error: Into<ValidationError>>`, so callers can pass
//! a string or a value that was checked earlier.

use std::convert::Infallible;
use std::fmt;
use std::ops::{Range, RangeFrom, RangeFull, RangeTo};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::agent_job::{AgentJob, CreatedJob, JobId, Prompt};
use crate::analytics::{
    BackfillBegin, EndDay, FeedbackStatuses, FirstDay, GetCallerStats, GetFeedbackByPage,
    ListArchivedViews, ListConversations, ListDailyViews, ListFeedback, ListPageViews,
    ListSearches, ListVisitors, PagePath, PathPrefix, ThreadId,
};
use crate::automation::AutomationId;
use crate::credential::{AccessToken, AdminKey, BaseUrl, IdempotencyKey, WebhookUrl};
use crate::date::{DateBound, DateRange};
use crate::deployment::{Branch, ListDeployments, StartedDeployment, StartedPreview, StatusId};
use crate::error::{Rule, ValidationError};
use crate::job_list::{JobAuthor, ListAgentJobs, PromptText};
use crate::parameters::{ConversationCursor, Cursor};
use crate::project::ProjectId;

/// Lets methods accept values that need no conversion. The error of their `TryInto` is
/// [`Infallible`].
impl From<Infallible> for ValidationError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Implements the conversions from strings and from references.
macro_rules! from_strings {
    ($($name:ident)+) => {$(
        impl FromStr for $name {
            type Err = ValidationError;

            fn from_str(text: &str) -> Result<Self, ValidationError> {
                Self::new(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = ValidationError;

            fn try_from(text: &str) -> Result<Self, ValidationError> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = ValidationError;

            fn try_from(text: String) -> Result<Self, ValidationError> {
                Self::new(text)
            }
        }

        impl TryFrom<&String> for $name {
            type Error = ValidationError;

            fn try_from(text: &String) -> Result<Self, ValidationError> {
                Self::new(text.as_str())
            }
        }

        impl From<&$name> for $name {
            fn from(value: &$name) -> Self {
                value.clone()
            }
        }
    )+};
}

/// Implements the conversions to strings, for values that are not confidential.
macro_rules! to_strings {
    ($($name:ident)+) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::new(text).map_err(de::Error::custom)
            }
        }
    )+};
}

from_strings! {
    AccessToken AdminKey AutomationId BackfillBegin BaseUrl Branch ConversationCursor Cursor EndDay FeedbackStatuses
    FirstDay IdempotencyKey JobAuthor JobId PagePath PathPrefix ProjectId Prompt PromptText StatusId
    ThreadId WebhookUrl
}

to_strings! {
    AutomationId BackfillBegin BaseUrl Branch ConversationCursor Cursor EndDay FeedbackStatuses
    FirstDay IdempotencyKey JobAuthor JobId PagePath PathPrefix ProjectId StatusId ThreadId
}

/// Returns the id of the started deployment.
impl TryFrom<&StartedDeployment> for StatusId {
    type Error = ValidationError;

    fn try_from(started: &StartedDeployment) -> Result<Self, ValidationError> {
        Self::new(started.status_id.as_str())
    }
}

/// Returns the id of the started preview.
impl TryFrom<&StartedPreview> for StatusId {
    type Error = ValidationError;

    fn try_from(started: &StartedPreview) -> Result<Self, ValidationError> {
        Self::new(started.status_id.as_str())
    }
}

/// Returns the id of the created job.
impl TryFrom<&CreatedJob> for JobId {
    type Error = ValidationError;

    fn try_from(job: &CreatedJob) -> Result<Self, ValidationError> {
        Self::new(job.id.as_str())
    }
}

/// Returns the job's id.
///
/// # Errors
/// [`Rule::Required`] if the server sent the job without an id. Otherwise as [`JobId::new`].
impl TryFrom<&AgentJob> for JobId {
    type Error = ValidationError;

    fn try_from(job: &AgentJob) -> Result<Self, ValidationError> {
        match &job.id {
            Some(id) => Self::new(id),
            None => Err(ValidationError::new("id", Rule::Required, "")),
        }
    }
}

fn range(from: Option<&str>, to: Option<&str>) -> Result<DateRange, ValidationError> {
    let from = from.map(|text| DateBound::new("dateFrom", text));
    let to = to.map(|text| DateBound::new("dateTo", text));
    DateRange::new(from.transpose()?, to.transpose()?)
}

/// From the first date (inclusive) to the second (exclusive).
///
/// ```
/// use quillgate::DateRange;
///
/// let october = DateRange::try_from("2026-10-01".."2026-11-01")?;
/// assert_eq!(october.to().map(|end| end.as_str()), Some("2026-11-01"));
/// assert!(DateRange::try_from("2026-11-01".."2026-10-01").is_err());
/// # Ok::<(), quillgate::ValidationError>(())
/// ```
impl TryFrom<Range<&str>> for DateRange {
    type Error = ValidationError;

    fn try_from(dates: Range<&str>) -> Result<Self, ValidationError> {
        range(Some(dates.start), Some(dates.end))
    }
}

/// From a date (inclusive) on.
impl TryFrom<RangeFrom<&str>> for DateRange {
    type Error = ValidationError;

    fn try_from(dates: RangeFrom<&str>) -> Result<Self, ValidationError> {
        range(Some(dates.start), None)
    }
}

/// Until a date (exclusive).
impl TryFrom<RangeTo<&str>> for DateRange {
    type Error = ValidationError;

    fn try_from(dates: RangeTo<&str>) -> Result<Self, ValidationError> {
        range(None, Some(dates.end))
    }
}

/// All dates.
impl From<RangeFull> for DateRange {
    fn from(_: RangeFull) -> Self {
        Self::default()
    }
}

/// Implements the conversions from a range of dates. They let callers pass
/// `"2026-10-01".."2026-11-01"` or `..` instead of a struct with all arguments.
macro_rules! from_dates {
    ($($name:ident)+) => {$(
        impl From<DateRange> for $name {
            #[allow(clippy::needless_update, reason = "some reports have no other argument")]
            fn from(range: DateRange) -> Self {
                Self { range, ..Self::default() }
            }
        }

        impl From<RangeFull> for $name {
            fn from(_: RangeFull) -> Self {
                Self::default()
            }
        }

        from_dates!(@ $name Range<&str>);
        from_dates!(@ $name RangeFrom<&str>);
        from_dates!(@ $name RangeTo<&str>);
    )+};
    (@ $name:ident $dates:ty) => {
        impl TryFrom<$dates> for $name {
            type Error = ValidationError;

            fn try_from(dates: $dates) -> Result<Self, ValidationError> {
                DateRange::try_from(dates).map(Self::from)
            }
        }
    };
}

from_dates! {
    GetCallerStats GetFeedbackByPage ListConversations ListFeedback ListPageViews ListSearches
    ListVisitors
}

/// All jobs.
impl From<RangeFull> for ListAgentJobs {
    fn from(_: RangeFull) -> Self {
        Self::default()
    }
}

/// All deployments.
impl From<RangeFull> for ListDeployments {
    fn from(_: RangeFull) -> Self {
        Self::default()
    }
}

/// The site's views from the first day to the day before the second.
impl TryFrom<Range<&str>> for ListDailyViews {
    type Error = ValidationError;

    fn try_from(days: Range<&str>) -> Result<Self, ValidationError> {
        Ok(Self {
            date_from: FirstDay::new(days.start)?,
            date_to: EndDay::new(days.end)?,
            path: None,
            prefix: None,
            group: None,
            limit: None,
            cursor: None,
        })
    }
}

/// All pages with views from the first day to the day before the second.
impl TryFrom<Range<&str>> for ListArchivedViews {
    type Error = ValidationError;

    fn try_from(days: Range<&str>) -> Result<Self, ValidationError> {
        Ok(Self {
            date_from: FirstDay::new(days.start)?,
            date_to: EndDay::new(days.end)?,
            limit: None,
            cursor: None,
        })
    }
}
