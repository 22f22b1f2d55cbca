//! Which configurations the Worker starts with, and how it says what is wrong.

use quillgate::Millis;
use quillgate_worker::config::Config;

use crate::setting::{ADMIN_KEY, SECRET, configuration, variables};

#[track_caller]
fn assert_wrong(name: &'static str, value: Option<&'static str>) {
    let Err(error) = Config::read(variables(&[(name, value)])) else {
        panic!("{name} was accepted: {value:?}");
    };
    assert_eq!(error.variable, name);
    let shown = [
        error.to_string(),
        format!("{error:?}"),
        error.rule.to_owned(),
    ]
    .join("\n");
    assert!(shown.contains(name));
    for secret in [ADMIN_KEY, SECRET, "hunter2"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    if let Some(value) = value.map(str::trim).filter(|value| value.len() > 9) {
        assert!(!shown.contains(value), "{shown}");
    }
}

#[track_caller]
fn read(name: &'static str, value: Option<&'static str>) -> Config {
    let config = Config::read(variables(&[(name, value)]));
    config.map_err(|error| error.to_string()).unwrap()
}

#[test]
fn a_working_configuration_is_read() {
    let config = configuration();
    assert_eq!(config.admin_key.expose(), ADMIN_KEY);
    assert_eq!(config.token_secrets, [SECRET.as_bytes()]);
    assert_eq!(
        config.allowed_origins,
        ["https://docs.example", "http://localhost:5173"]
    );
    assert_eq!(config.upstream.join("/x"), "https://api.example/x");
    assert_eq!(config.upstream_timeout, Millis(30_000));
}

#[test]
fn the_secrets_must_be_set() {
    for name in ["ADMIN_API_KEY", "ACCESS_TOKEN_SECRET"] {
        for value in [None, Some(""), Some("   "), Some("\t\n")] {
            assert_wrong(name, value);
        }
        let Err(error) = Config::read(variables(&[(name, None)])) else {
            panic!("accepted without {name}");
        };
        assert_eq!(error.to_string(), format!("{name} is not set"));
    }
}

#[test]
fn only_an_admin_key_is_one() {
    for value in [
        "mint_",
        "mint_dsc_hunter2_assistant",
        "mint_us_hunter2_index",
        "MINT_hunter2_in_capitals",
        "hunter2_without_its_prefix",
        "sk_hunter2_mint_",
        "mint_hunter2 with a space",
        "mint_hunter2\r\nx-injected: 1",
        "mint_hunter2\u{0}",
        "mint_hunter2_ü",
        "Bearer mint_hunter2",
        "\"mint_hunter2_in_quotes\"",
    ] {
        assert_wrong("ADMIN_API_KEY", Some(value));
    }
    let config = read("ADMIN_API_KEY", Some("  mint_dscx_hunter2\n"));
    assert_eq!(config.admin_key.expose(), "mint_dscx_hunter2");
}

#[test]
fn a_secret_of_less_than_32_bytes_is_refused_wherever_it_stands() {
    for value in [
        "x",
        "0123456789012345678901234567890",
        "0123456789012345678901234567890 ",
        "0123456789012345678901234567890123,short",
        "short,0123456789012345678901234567890123",
        "01234567890123456789012345678901234,",
        ",01234567890123456789012345678901234",
        "01234567890123456789012345678901234,,01234567890123456789012345678901234",
        ",",
    ] {
        assert_wrong("ACCESS_TOKEN_SECRET", Some(value));
    }
}

#[test]
fn several_secrets_are_read_in_order_without_the_space_around_them() {
    let config = read(
        "ACCESS_TOKEN_SECRET",
        Some(" 01234567890123456789012345678901 , ääääääääääääääää\n"),
    );
    let expected = ["01234567890123456789012345678901", "ääääääääääääääää"];
    assert_eq!(config.token_secrets, expected.map(str::as_bytes));
}

#[test]
fn the_upstream_is_the_platform_unless_told() {
    for value in [None, Some(""), Some(" ")] {
        let config = read("UPSTREAM_BASE_URL", value);
        assert_eq!(
            config.upstream.join("/v2/x"),
            "https://api.mintlify.com/v2/x"
        );
    }
    let config = read("UPSTREAM_BASE_URL", Some("http://127.0.0.1:8788/base/"));
    assert_eq!(
        config.upstream.join("/v2/x"),
        "http://127.0.0.1:8788/base/v2/x"
    );
}

#[test]
fn an_upstream_that_is_no_plain_address_is_refused() {
    for value in [
        "api.example",
        "//api.example",
        "ftp://api.example",
        "javascript:hunter2",
        "https://",
        "https:///path",
        "https://:443",
        "https://user:hunter2@api.example",
        "https://api.example?key=hunter2",
        "https://api.example#hunter2",
        "https://api.example/a b",
        "https://api.example\r\nx: y",
        "https://api.example\\@evil.example",
        "https://äpi.example",
        "HTTPS://api.example",
    ] {
        assert_wrong("UPSTREAM_BASE_URL", Some(value));
    }
}

#[test]
fn the_admin_key_never_goes_out_in_clear_text() {
    for here in [
        "http://localhost:8788",
        "http://127.0.0.1",
        "http://127.0.0.1:8788/base",
        "http://[::1]:8788",
    ] {
        read("UPSTREAM_BASE_URL", Some(here));
    }
    for elsewhere in [
        "http://api.example",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example:80",
        "http://127.0.0.1:80:80",
        "http://10.0.0.1",
    ] {
        assert_wrong("UPSTREAM_BASE_URL", Some(elsewhere));
    }
    assert_wrong("UPSTREAM_TIMEOUT_SECONDS", Some("+30"));
}

#[test]
fn allowed_origins_are_exact_ones() {
    for value in [
        "*",
        "null",
        "pages.example",
        "https://",
        "https://pages.example/",
        "https://pages.example/path",
        "https://pages.example?x",
        "https://*.example",
        "https://user@pages.example",
        "https://Pages.example",
        "HTTPS://pages.example",
        "ftp://pages.example",
        "https://pages.example https://b.example",
        "https://pages.example;https://b.example",
        "https://pages.example,*",
        "https://pages.example,null",
        "\"https://pages.example\"",
        "https://pägs.example",
    ] {
        assert_wrong("ALLOWED_ORIGINS", Some(value));
    }
}

#[test]
fn no_origins_or_empty_ones_are_none() {
    for value in [None, Some(""), Some(" , ,")] {
        let origins = read("ALLOWED_ORIGINS", value).allowed_origins;
        assert_eq!(origins, [""; 0]);
    }
    let origins = read("ALLOWED_ORIGINS", Some("http://[::1]:5173,")).allowed_origins;
    assert_eq!(origins, ["http://[::1]:5173"]);
}

#[test]
fn the_timeout_is_a_whole_number_of_seconds() {
    for value in [
        "0",
        "301",
        "-1",
        "1.5",
        "1e2",
        "30s",
        "ten",
        "0x10",
        "1 0",
        "１",
        "99999999999999999999",
    ] {
        assert_wrong("UPSTREAM_TIMEOUT_SECONDS", Some(value));
    }
    for (value, expected) in [("1", 1000), (" 300 ", 300_000), ("007", 7000)] {
        let config = read("UPSTREAM_TIMEOUT_SECONDS", Some(value));
        assert_eq!(config.upstream_timeout, Millis(expected));
    }
}
