//! The options of the simulator.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use clap::{Parser, ValueEnum};

use crate::profile::{DEFAULT_PROFILE, Profile};

const DEFAULT_KEY: &str = "mint_simulated_upstream_admin_key";

/// The options of the simulator.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "upstream",
    version,
    about = "Simulates the documentation platform's admin API"
)]
pub struct Options {
    /// Port on 127.0.0.1; 0 picks a free port
    #[arg(long, default_value_t = 8788)]
    pub port: u16,

    /// Behaviour to follow
    #[arg(long, value_enum, default_value_t = DEFAULT_PROFILE)]
    pub profile: Profile,

    /// Seed of the generated data
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Content of the generated data
    #[arg(long, value_enum, default_value_t = DataSet::Test)]
    pub data: DataSet,

    /// Pages per project
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub pages: u32,

    /// Vary views and visitors from day to day; some pages have none on some days
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub varying_days: bool,

    /// Feedback entries per project in thirty days
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub feedback: u32,

    /// Search terms per project
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub searches: u32,

    /// Turns of assistant conversations per project in thirty days
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub conversations: u32,

    /// Milliseconds that a job takes per prompt
    #[arg(long, default_value_t = 6000)]
    pub job_duration_ms: u64,

    /// Milliseconds that a deployment or preview takes
    #[arg(long, default_value_t = 90_000)]
    pub deployment_duration_ms: u64,

    /// Speed of the clock for jobs, deployments, limits and days; delays keep their length
    #[arg(long, default_value_t = 1)]
    pub clock_rate: u32,

    /// Accepted admin key; use the variable to keep it out of the process list
    #[arg(
        long,
        env = "UPSTREAM_ADMIN_KEY",
        default_value = DEFAULT_KEY,
        hide_default_value = true,
        hide_env_values = true
    )]
    pub key: AdminKey,

    /// Second accepted key, with read access only
    #[arg(long, env = "UPSTREAM_READ_KEY", hide_env_values = true)]
    pub read_key: Option<AdminKey>,

    /// Existing project; repeat the option or separate projects by commas. A project whose id
    /// begins with `empty-` has no data, with `no-feedback-` no feedback, with `free-` a plan
    /// without the API, and with `deploy-` a name of a course for its deployments
    #[arg(
        long = "project",
        alias = "projects",
        value_delimiter = ',',
        default_values_t = default_projects()
    )]
    pub projects: Vec<String>,

    /// Job creations per project and hour
    #[arg(long, default_value_t = 100)]
    pub create_limit: u32,

    /// Follow-up messages per project and hour
    #[arg(long, default_value_t = 100)]
    pub message_limit: u32,

    /// Count reads of a job against the limit for job creations
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub reads_share_job_limit: bool,

    /// Analytics requests per hour across all projects
    #[arg(long, default_value_t = 100)]
    pub analytics_limit: u32,

    /// Deployments and runs of automations per ten seconds across all projects
    #[arg(long, default_value_t = 10)]
    pub deployment_limit: u32,

    /// Previews per minute across all projects
    #[arg(long, default_value_t = 5)]
    pub preview_limit: u32,
}

impl Default for Options {
    /// The defaults of the command, regardless of environment variables.
    fn default() -> Self {
        Self {
            read_key: None,
            ..Self::parse_from(["upstream", "--key", DEFAULT_KEY])
        }
    }
}

/// The content of the generated data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DataSet {
    /// Strings that are difficult in CSV, in URLs and in spreadsheets
    #[default]
    Test,
    /// A site that people recognize, with views that vary by day, weekday and page
    Demo,
}

fn default_projects() -> Vec<String> {
    vec!["demo-docs".to_owned(), "empty-docs".to_owned()]
}

/// An admin key. `Debug` and `--help` hide it.
///
/// The default is `mint_simulated_upstream_admin_key`.
#[derive(Clone, PartialEq, Eq)]
pub struct AdminKey(String);

impl AdminKey {
    /// Returns the key.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Default for AdminKey {
    fn default() -> Self {
        Self(DEFAULT_KEY.to_owned())
    }
}

impl From<&str> for AdminKey {
    fn from(key: &str) -> Self {
        Self(key.to_owned())
    }
}

impl FromStr for AdminKey {
    type Err = Infallible;

    fn from_str(key: &str) -> Result<Self, Infallible> {
        Ok(Self::from(key))
    }
}

impl fmt::Debug for AdminKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AdminKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn debug_output_and_help_hide_the_key() {
        let help = Options::command().render_long_help().to_string();
        let debug = format!("{:?}", Options::default());
        assert!(!help.contains(DEFAULT_KEY) && !debug.contains(DEFAULT_KEY));
    }
}
