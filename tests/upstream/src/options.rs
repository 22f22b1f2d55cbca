//! The options of the simulator.

use clap::{Parser, ValueEnum};

#[derive(Parser)]
#[command(
    name = "upstream",
    version,
    about = "Simulates the documentation platform's admin API"
)]
pub(crate) struct Options {
    /// Port on 127.0.0.1; 0 picks a free port
    #[arg(long, default_value_t = 8788)]
    pub(crate) port: u16,

    /// Behaviour to follow
    #[arg(long, value_enum, default_value_t = Profile::Live)]
    pub(crate) profile: Profile,

    /// Seed of the generated data
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// Content of the generated data
    #[arg(long, value_enum, default_value_t = DataSet::Test)]
    pub(crate) data: DataSet,

    /// Pages per project
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) pages: u32,

    /// Vary views and visitors from day to day; some pages have none on some days
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set)]
    pub(crate) varying_days: bool,

    /// Feedback entries per project in thirty days
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub(crate) feedback: u32,

    /// Search terms per project
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) searches: u32,

    /// Turns of assistant conversations per project in thirty days
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub(crate) conversations: u32,

    /// Milliseconds that a job takes per prompt
    #[arg(long, default_value_t = 6000)]
    pub(crate) job_duration_ms: u64,

    /// Milliseconds that a deployment or preview takes
    #[arg(long, default_value_t = 90_000)]
    pub(crate) deployment_duration_ms: u64,

    /// Speed of the clock for jobs, deployments, limits and days; delays keep their length
    #[arg(long, default_value_t = 1)]
    pub(crate) clock_rate: u32,

    /// Accepted admin key; use the variable to keep it out of the process list
    #[arg(
        long,
        env = "UPSTREAM_ADMIN_KEY",
        default_value = "mint_simulated_upstream_admin_key",
        hide_default_value = true,
        hide_env_values = true
    )]
    pub(crate) key: String,

    /// Second accepted key, with read access only
    #[arg(long, env = "UPSTREAM_READ_KEY", hide_env_values = true)]
    pub(crate) read_key: Option<String>,

    /// Existing projects, separated by commas. A project whose id begins with `empty-` has no
    /// data, and one with `free-` has a plan without the API
    #[arg(long, value_delimiter = ',', default_value = "demo-docs,empty-docs")]
    pub(crate) projects: Vec<String>,

    /// Job creations per project and hour
    #[arg(long, default_value_t = 100)]
    pub(crate) create_limit: u32,

    /// Follow-up messages per project and hour
    #[arg(long, default_value_t = 100)]
    pub(crate) message_limit: u32,

    /// Count reads of a job against the limit for job creations
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set)]
    pub(crate) reads_share_job_limit: bool,

    /// Analytics requests per hour across all projects
    #[arg(long, default_value_t = 100)]
    pub(crate) analytics_limit: u32,

    /// Deployments and runs of automations per ten seconds across all projects
    #[arg(long, default_value_t = 10)]
    pub(crate) deployment_limit: u32,

    /// Previews per minute across all projects
    #[arg(long, default_value_t = 5)]
    pub(crate) preview_limit: u32,
}

/// The content of the generated data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataSet {
    /// Strings that are difficult in CSV, in URLs and in spreadsheets
    #[default]
    Test,
    /// A site that people recognize, with views that vary by day, weekday and page
    Demo,
}

/// The behaviour of the simulator. `README.md` lists the differences.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// As Mintlify's descriptions publish
    Published,
    /// As users of the real platform observed
    Live,
}

impl Profile {
    pub(crate) fn is_live(self) -> bool {
        self == Self::Live
    }
}
