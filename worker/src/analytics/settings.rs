//! The settings of analytics. The Worker's variables set the freshness of reports and the daily
//! archive.

use std::cmp::Ordering;

use quillgate::{DateBound, DateRange, Day, Millis, ProjectId};

use crate::budget::limits::Limits;
use crate::variable::{Range, VariableError, Variables, read_integer, read_seconds, split_list};

/// The freshness lifetime of reports about past days: a day. The range of these reports ended
/// before yesterday, in UTC.
const CLOSED: Millis = Millis::from_seconds(86_400);

/// The freshness of reports and the daily archive.
pub struct AnalyticsSettings {
    /// The freshness lifetime of reports whose range ends yesterday or later, or at an unknown
    /// instant. Archive responses that are not final have the same freshness lifetime.
    pub fresh_for: Millis,
    /// The projects to archive, and the archive's share of the budget.
    pub archive: ArchiveSettings,
}

impl AnalyticsSettings {
    /// Reads the settings from the Worker's variables.
    ///
    /// # Errors
    /// Returns an error for the first malformed variable.
    pub fn read(variables: Variables<'_>, limits: &Limits) -> Result<Self, VariableError> {
        Ok(Self {
            fresh_for: read_seconds("ANALYTICS_FRESH_SECONDS", variables, 300, Range::TO_DAY)?,
            archive: ArchiveSettings::read(variables, limits)?,
        })
    }

    /// Returns the freshness lifetime of a report of this normalized range.
    ///
    /// The lifetime of a day requires an end before yesterday, because the upstream may use another
    /// time zone or count some views late. A date-time without a UTC offset does not count as such
    /// an end, because its instant is unknown.
    pub fn freshness(&self, range: &DateRange, now: Millis) -> Millis {
        let yesterday = Day::of(now).minus(1);
        let begins = [yesterday.into(), DateBound::from_instant(yesterday.begin())];
        let ends_before = |begin| range.to()?.compare(begin);
        let is_closed = |begin| ends_before(begin) == Some(Ordering::Less);
        if begins.iter().any(is_closed) {
            CLOSED
        } else {
            self.fresh_for
        }
    }
}

/// Settings of the daily archive.
pub struct ArchiveSettings {
    /// The projects to archive. If empty, the archive is disabled.
    pub projects: Vec<ProjectId>,
    /// The archive's share of the analytics budget, in requests per window. The share is at least
    /// 1.
    pub limit: u32,
    /// The length of the budget's window.
    pub window: Millis,
    /// The number of days before today that the archive retains.
    pub retention_days: u32,
    /// A stored day is fetched again once per day, until a complete fetch takes place more than
    /// this number of days after the stored day. Mintlify counts some views late.
    pub recheck_days: u32,
}

impl ArchiveSettings {
    fn read(variables: Variables<'_>, limits: &Limits) -> Result<Self, VariableError> {
        let integer = |name, default, range| read_integer(name, variables(name), default, range);
        let projects = split_list(variables("ARCHIVE_PROJECTS").as_deref()).into_iter();
        let projects: Result<_, _> = projects.map(ProjectId::new).collect();
        let share = integer("ARCHIVE_SHARE", 33, Range::TO_HUNDRED)?;
        let limit = u64::from(limits.analytics) * u64::from(share) / 100;
        Ok(Self {
            projects: projects.map_err(|_| VariableError {
                variable: "ARCHIVE_PROJECTS",
                rule: "must be ids of projects, separated by commas",
            })?,
            limit: u32::try_from(limit).unwrap_or(limits.analytics).max(1),
            window: limits.window,
            retention_days: integer("ARCHIVE_RETENTION_DAYS", 730, Range::TO_TEN_YEARS)?,
            recheck_days: integer("ARCHIVE_RECHECK_DAYS", 3, Range::TO_HUNDRED)?,
        })
    }

    /// Whether a project is archived.
    pub fn includes(&self, project: &str) -> bool {
        self.projects.iter().any(|own| own.as_str() == project)
    }
}
