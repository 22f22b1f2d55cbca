mod webhooks;

use quillgate::credential::AdminKey;
use quillgate::{Millis, ProjectId, RateLimitPolicy};
use quillgate_worker::app::config::Config;
use quillgate_worker::auth::revocation::RevokedTokens;
use quillgate_worker::jobs::records::KeepPrompts;

use crate::fixtures::{ADMIN_KEY, SECRET, configuration, configure, variables};

/// A variable of the configuration.
struct Variable(&'static str);

impl Variable {
    /// Checks that each of `values` is rejected, without a secret or the value in the error.
    #[track_caller]
    fn rejects<'a>(&self, values: &[impl Copy + Into<Option<&'a str>>]) {
        let Self(name) = *self;
        for value in values.iter().map(|value| (*value).into()) {
            let read = Config::read(variables(&[(name, value)]));
            let error = read.err().unwrap_or_else(|| panic!("{name}: {value:?}"));
            assert_eq!(error.variable, name);
            let shown = format!("{error}\n{error:?}\n{}", error.rule);
            assert!(shown.contains(name));
            let value = value.map(str::trim).filter(|value| value.len() > 9);
            for secret in [ADMIN_KEY, SECRET, "hunter2"].into_iter().chain(value) {
                assert!(!shown.contains(secret), "{shown}");
            }
        }
    }
}

#[track_caller]
fn read(name: &str, value: Option<&str>) -> Config {
    configure(&[(name, value)])
}

fn expose(keys: &[AdminKey]) -> Vec<&str> {
    keys.iter().map(AdminKey::expose).collect()
}

#[test]
fn valid_configuration_is_accepted() {
    let config = configuration();
    assert_eq!(expose(&config.upstream.admin_keys), [ADMIN_KEY]);
    assert_eq!(expose(&config.upstream.read_keys), [""; 0]);
    assert_eq!(config.auth.token_secrets, [SECRET.as_bytes()]);
    let expected = ["https://docs.example", "http://localhost:5173"];
    assert_eq!(config.allowed_origins, expected);
    assert_eq!(config.upstream.base_url.join("/x"), "https://api.example/x");
    assert_eq!(config.upstream.timeout, Millis(30_000));
    assert_eq!(config.auth.trusted_issuers, []);
    assert_eq!(config.auth.revoked, RevokedTokens::default());
}

#[test]
fn unset_limits_default_to_the_limits_of_mintlify() {
    let config = configuration();
    let limits = [
        config.limits.limit(RateLimitPolicy::CreateJob),
        config.limits.limit(RateLimitPolicy::SendMessage),
        config.limits.limit(RateLimitPolicy::Analytics),
    ];
    assert_eq!(limits, [100; 3]);
    assert_eq!(config.limits.window, Millis(3_600_000));
    assert_eq!(config.analytics.fresh_for, Millis(300_000));
    assert_eq!(config.jobs.poll_interval, Millis(5_000));
    assert_eq!(config.jobs.poll_duration, Millis(86_400_000));
    assert_eq!(config.jobs.retention, Millis(90 * 86_400_000));
    let found = (config.jobs.streams_per_caller, config.jobs.streams_per_job);
    assert_eq!(found, (100, 1_000));
    assert_eq!(config.jobs.webhook.url, None);
    assert_eq!(config.jobs.webhook.secrets, [[0; 0]; 0]);
    assert_eq!(config.jobs.webhook.hosts, [""; 0]);
}

#[test]
fn secrets_are_required() {
    for name in ["ADMIN_API_KEY", "ACCESS_TOKEN_SECRET"] {
        Variable(name).rejects(&[None, Some(""), Some("   "), Some("\t\n")]);
        let error = Config::read(variables(&[(name, None)])).err().unwrap();
        assert_eq!(error.to_string(), format!("{name} is not set"));
    }
}

#[test]
fn only_well_formed_admin_keys_are_accepted() {
    let malformed = [
        "mint_",
        "mint_dsc_hunter2_assistant",
        "MINT_hunter2_in_capitals",
        "hunter2_without_its_prefix",
        "mint_hunter2 with a space",
        "mint_hunter2\r\nx-injected: 1",
        "mint_hunter2_ü",
        "Bearer mint_hunter2",
        "mint_hunter2_one,",
        "mint_hunter2_one,,mint_hunter2_two",
        "mint_hunter2_one,mint_dsc_hunter2",
        "mint_hunter2_one mint_hunter2_two",
        "mint_hunter2_one,mint_hunter2_two,mint_hunter2_three",
    ];
    Variable("ADMIN_API_KEY").rejects(&malformed);
    Variable("ADMIN_READ_KEY").rejects(&malformed);
    let config = read("ADMIN_API_KEY", Some("  mint_dscx_hunter2\n"));
    assert_eq!(expose(&config.upstream.admin_keys), ["mint_dscx_hunter2"]);
}

#[test]
fn two_admin_keys_are_read_newest_first() {
    let value = Some(" mint_new_one , mint_old_one\n");
    let both = ["mint_new_one", "mint_old_one"];
    let config = read("ADMIN_API_KEY", value);
    assert_eq!(expose(&config.upstream.admin_keys), both);
    let config = read("ADMIN_READ_KEY", value);
    assert_eq!(expose(&config.upstream.read_keys), both);
    for value in [None, Some(""), Some(" ")] {
        let config = read("ADMIN_READ_KEY", value);
        assert_eq!(expose(&config.upstream.read_keys), [""; 0]);
    }
}

#[test]
fn secret_shorter_than_32_bytes_is_rejected_in_any_position() {
    Variable("ACCESS_TOKEN_SECRET").rejects(&[
        "x",
        "0123456789012345678901234567890",
        "0123456789012345678901234567890 ",
        "0123456789012345678901234567890123,short",
        "short,0123456789012345678901234567890123",
        "01234567890123456789012345678901234,",
        ",01234567890123456789012345678901234",
        "01234567890123456789012345678901234,,01234567890123456789012345678901234",
        ",",
    ]);
}

#[test]
fn secrets_are_read_in_order_and_trimmed() {
    let value = "\u{feff} 01234567890123456789012345678901 , ääääääääääääääää\n";
    let config = read("ACCESS_TOKEN_SECRET", Some(value));
    let expected = ["01234567890123456789012345678901", "ääääääääääääääää"];
    assert_eq!(config.auth.token_secrets, expected.map(str::as_bytes));
}

#[test]
fn upstream_defaults_to_mintlify() {
    for value in [None, Some(""), Some(" ")] {
        let config = read("UPSTREAM_BASE_URL", value);
        let expected = "https://api.mintlify.com/v2/x";
        assert_eq!(config.upstream.base_url.join("/v2/x"), expected);
    }
    let config = read("UPSTREAM_BASE_URL", Some("http://127.0.0.1:8788/base/"));
    let expected = "http://127.0.0.1:8788/base/v2/x";
    assert_eq!(config.upstream.base_url.join("/v2/x"), expected);
}

#[test]
fn upstream_must_be_a_plain_origin() {
    Variable("UPSTREAM_BASE_URL").rejects(&[
        "javascript:hunter2",
        "https://user:hunter2@api.example",
        "https://api.example\r\nx: y",
        "HTTPS://api.example",
    ]);
}

#[test]
fn admin_key_is_never_sent_over_clear_text() {
    read("UPSTREAM_BASE_URL", Some("http://127.0.0.1:8788/base"));
    Variable("UPSTREAM_BASE_URL").rejects(&["http://api.example"]);
    Variable("UPSTREAM_TIMEOUT_SECONDS").rejects(&["+30"]);
}

#[test]
fn allowed_origins_must_be_exact() {
    Variable("ALLOWED_ORIGINS").rejects(&[
        "https://*.example",
        "https://user@pages.example",
        "https://pages.example https://b.example",
        "https://pages.example,null",
        "\"https://pages.example\"",
        "https://pägs.example",
    ]);
}

#[test]
fn empty_list_of_origins_allows_no_origin() {
    for value in [None, Some(""), Some(" , ,")] {
        let origins = read("ALLOWED_ORIGINS", value).allowed_origins;
        assert_eq!(origins, [""; 0]);
    }
    let origins = read("ALLOWED_ORIGINS", Some("http://[::1]:5173,")).allowed_origins;
    assert_eq!(origins, ["http://[::1]:5173"]);
}

#[test]
fn default_port_of_an_allowed_origin_is_dropped_as_browsers_do() {
    for (origin, expected) in [
        ("https://a.example:443", "https://a.example"),
        ("http://a.example:80", "http://a.example"),
        ("https://[::1]:443", "https://[::1]"),
        ("https://a.example:80", "https://a.example:80"),
        ("http://a.example:443", "http://a.example:443"),
        ("https://a.example:8443", "https://a.example:8443"),
    ] {
        let origins = read("ALLOWED_ORIGINS", Some(origin)).allowed_origins;
        assert_eq!(origins, [expected]);
    }
}

#[test]
fn archive_takes_project_ids_and_a_percentage() {
    let archive = |name, value| read(name, value).analytics.archive;
    let read_projects = |value| {
        let projects = archive("ARCHIVE_PROJECTS", value).projects;
        let ids = projects.iter().map(ProjectId::as_str);
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(read_projects(None), [""; 0]);
    assert_eq!(read_projects(Some("acme, other ,")), ["acme", "other"]);
    Variable("ARCHIVE_PROJECTS").rejects(&["acme,.."]);
    for name in ["ARCHIVE_SHARE", "ARCHIVE_RECHECK_DAYS"] {
        Variable(name).rejects(&["0", "101", "1.5", "33%"]);
    }
    assert_eq!(archive("ARCHIVE_SHARE", None).limit, 33);
    assert_eq!(archive("ARCHIVE_SHARE", Some("100")).limit, 100);
    assert_eq!(archive("ARCHIVE_RECHECK_DAYS", None).recheck_days, 3);
}

#[test]
fn whole_prompts_are_stored_by_default() {
    for (value, expected) in [
        (None, KeepPrompts::Whole),
        (Some(" "), KeepPrompts::Whole),
        (Some("first-line"), KeepPrompts::FirstLine),
        (Some(" whole "), KeepPrompts::Whole),
    ] {
        let found = read("KEEP_PROMPTS", value).jobs.keep_prompts;
        assert_eq!(found, expected, "{value:?}");
    }
    let (spaced, both) = ("first line", "whole,first-line");
    Variable("KEEP_PROMPTS").rejects(&["Whole", "all", "true", "1", spaced, both]);
}

#[test]
fn poll_budget_defaults_to_a_fifth_of_the_creation_limit() {
    let budget = |creations| read("CREATE_LIMIT_PER_HOUR", creations).jobs.poll_budget;
    assert_eq!(budget(None).limit, 20);
    assert_eq!(budget(Some("1000")).limit, 200);
    // The default is never below 20, a fifth of Mintlify's own limit of 100.
    assert_eq!(budget(Some("5")).limit, 20);
}

#[test]
fn unwatched_job_is_polled_every_15_seconds_at_most() {
    for (seconds, expected) in [(None, 15), (Some("15"), 15), (Some("30"), 30)] {
        let config = read("JOB_POLL_SECONDS", seconds);
        let interval = config.jobs.webhook_poll_interval;
        assert_eq!(interval, Millis::from_seconds(expected), "{seconds:?}");
    }
}

/// The integer variables, each with its maximum.
const INTEGERS: [(&str, u32); 14] = [
    ("UPSTREAM_TIMEOUT_SECONDS", 300),
    ("JOB_POLL_SECONDS", 300),
    ("JOB_POLLS_PER_HOUR", 1_000_000),
    ("JOB_POLL_LIMIT_SECONDS", 86_400),
    ("JOB_RETENTION_DAYS", 3_650),
    ("ARCHIVE_RETENTION_DAYS", 3_650),
    ("STREAMS_PER_CALLER", 1_000_000),
    ("STREAMS_PER_JOB", 1_000_000),
    ("LIMIT_WINDOW_SECONDS", 86_400),
    ("ANALYTICS_FRESH_SECONDS", 86_400),
    ("CREATE_LIMIT_PER_HOUR", 1_000_000),
    ("MESSAGE_LIMIT_PER_HOUR", 1_000_000),
    ("ANALYTICS_LIMIT_PER_HOUR", 1_000_000),
    ("READ_LIMIT_PER_HOUR", 1_000_000),
];

/// Returns the value of an integer variable.
fn integer(config: &Config, name: &str) -> u64 {
    let (jobs, limits) = (&config.jobs, &config.limits);
    match name {
        "UPSTREAM_TIMEOUT_SECONDS" => config.upstream.timeout.0 / 1000,
        "JOB_POLL_SECONDS" => jobs.poll_interval.0 / 1000,
        "JOB_POLLS_PER_HOUR" => jobs.poll_budget.limit.into(),
        "JOB_POLL_LIMIT_SECONDS" => jobs.poll_duration.0 / 1000,
        "JOB_RETENTION_DAYS" => jobs.retention.0 / 86_400_000,
        "ARCHIVE_RETENTION_DAYS" => config.analytics.archive.retention_days.into(),
        "STREAMS_PER_CALLER" => jobs.streams_per_caller.into(),
        "STREAMS_PER_JOB" => jobs.streams_per_job.into(),
        "LIMIT_WINDOW_SECONDS" => limits.window.0 / 1000,
        "ANALYTICS_FRESH_SECONDS" => config.analytics.fresh_for.0 / 1000,
        "CREATE_LIMIT_PER_HOUR" => limits.limit(RateLimitPolicy::CreateJob).into(),
        "MESSAGE_LIMIT_PER_HOUR" => limits.limit(RateLimitPolicy::SendMessage).into(),
        "ANALYTICS_LIMIT_PER_HOUR" => limits.limit(RateLimitPolicy::Analytics).into(),
        "READ_LIMIT_PER_HOUR" => limits.limit(RateLimitPolicy::ReadJobs).into(),
        _ => panic!("{name} is not an integer variable"),
    }
}

#[test]
fn times_and_limits_must_be_integers_in_range() {
    for (name, most) in INTEGERS {
        let too_long = "99999999999999999999";
        Variable(name).rejects(&["0", "1000001", "-1", "1.5", "30s", "１", too_long]);
        for (value, expected) in [("1", 1), (" 300 ", 300), ("007", 7)] {
            assert_eq!(integer(&read(name, Some(value)), name), expected, "{name}");
        }
        let config = read(name, Some(&most.to_string()));
        assert_eq!(integer(&config, name), u64::from(most), "{name}");
        let over = (most + 1).to_string();
        let error = Config::read(variables(&[(name, Some(&over))]));
        let error = error.err().unwrap();
        let expected = format!("{name} must be an integer from 1 to {most}");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn malformed_variables_of_pull_requests_are_rejected() {
    Variable("GITHUB_TOKEN").rejects(&[
        "mint_hunter2_of_mintlify",
        "github_pat_hunter2 with a space",
        "github_pat_hunter2\r\nx-injected: 1",
        "github_pat_hunter2_ü",
    ]);
    Variable("GITHUB_API_URL").rejects(&[
        "http://github.hunter2.example",
        "api.github.hunter2.example",
        "https://user:hunter2@github.example",
        "https://github.example/?key=hunter2",
    ]);
    Variable("PULL_REQUEST_STATES").rejects(&["true", "ON", "1", "public"]);
}
