use std::cmp::Ordering;

use quillgate::{DateBound, DateRange, Day, Millis, ProjectId};

use crate::budget::limits::Limits;
use crate::variable::{VariableError, Variables, split_list, variables};

variables! {
    /// How long a cached report stays fresh, in seconds. A report whose `dateTo` is before
    /// yesterday (UTC) stays fresh for a day.
    ANALYTICS_FRESH_SECONDS: Var = 300 in TO_DAY;
    /// The projects to archive.
    ARCHIVE_PROJECTS: Var = "none";
    /// The part of `ANALYTICS_LIMIT_PER_HOUR` that the archive may use, in percent.
    ARCHIVE_SHARE: Var = 33 in TO_HUNDRED;
    /// The number of days that the archive stores.
    ARCHIVE_RETENTION_DAYS: Var = 730 in TO_TEN_YEARS;
    /// On how many of the following days the archive fetches a new day again. Mintlify counts some
    /// views late.
    ARCHIVE_RECHECK_DAYS: Var = 3 in TO_HUNDRED;
}

/// For reports whose range ended before yesterday, in UTC.
const CLOSED: Millis = Millis::from_seconds(86_400);

pub struct AnalyticsSettings {
    /// For all other reports, and for archive responses that are not final.
    pub fresh_for: Millis,
    pub archive: ArchiveSettings,
}

impl AnalyticsSettings {
    pub fn read(variables: Variables<'_>, limits: &Limits) -> Result<Self, VariableError> {
        Ok(Self {
            fresh_for: ANALYTICS_FRESH_SECONDS.read_seconds(variables)?,
            archive: ArchiveSettings::read(variables, limits)?,
        })
    }

    /// Only a range that ended before yesterday counts as past, because Mintlify may use
    /// another time zone or count some views late. A date-time without a UTC offset has no known
    /// instant.
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

pub struct ArchiveSettings {
    /// If empty, the archive is disabled.
    pub projects: Vec<ProjectId>,
    /// At least one request per window.
    pub limit: u32,
    pub window: Millis,
    pub retention_days: u32,
    pub recheck_days: u32,
}

impl ArchiveSettings {
    fn read(variables: Variables<'_>, limits: &Limits) -> Result<Self, VariableError> {
        let projects = split_list(variables("ARCHIVE_PROJECTS").as_deref());
        let projects: Result<_, _> = projects.into_iter().map(ProjectId::new).collect();
        let share = ARCHIVE_SHARE.read(variables)?;
        let limit = u64::from(limits.analytics) * u64::from(share) / 100;
        Ok(Self {
            projects: projects.map_err(|_| VariableError {
                variable: "ARCHIVE_PROJECTS",
                rule: "must be ids of projects, separated by commas",
            })?,
            limit: u32::try_from(limit).unwrap_or(limits.analytics).max(1),
            window: limits.window,
            retention_days: ARCHIVE_RETENTION_DAYS.read(variables)?,
            recheck_days: ARCHIVE_RECHECK_DAYS.read(variables)?,
        })
    }

    pub fn includes(&self, project: &str) -> bool {
        self.projects.iter().any(|own| own.as_str() == project)
    }
}
