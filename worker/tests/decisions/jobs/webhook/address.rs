use quillgate_worker::http::url::lowercase_origin;
use quillgate_worker::jobs::job_settings::WebhookSettings;
use quillgate_worker::jobs::webhook::{MAX_URL_BYTES, check_address, recheck_address};

use crate::fixtures::{Predicate, field_and_rule};

fn hosts(list: &[&str]) -> Vec<String> {
    list.iter().map(|host| (*host).to_owned()).collect()
}

/// Returns an allowlist with the URL's host, so that only the other rules can reject the URL.
fn listing(url: &str) -> Vec<String> {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or("");
    let own = host.to_ascii_lowercase();
    let name = own.split(':').next().unwrap_or("");
    let is_loopback = ["localhost", "127.0.0.1"].contains(&name) || own.starts_with("[::1]");
    let own = (!is_loopback).then_some(own);
    own.into_iter()
        .chain(["hooks.example".to_owned()])
        .collect()
}

#[track_caller]
fn assert_refused(url: &str, hosts: &[String]) {
    let problem = check_address(url, hosts).unwrap_err();
    let expected = ["Webhook-Url", "webhook-url"];
    assert_eq!(field_and_rule(&problem), expected, "{url}");
    assert!(url.len() < 12 || !problem.detail.contains(url));
}

/// Asserts that a rule other than the allowlist rejects each URL.
#[track_caller]
fn assert_never_allowed(urls: &[impl AsRef<str>]) {
    for url in urls.iter().map(AsRef::as_ref) {
        assert_refused(url, &listing(url));
    }
}

#[test]
fn public_https_url_is_accepted_with_lowercase_scheme_and_host() {
    for (url, expected) in [
        ("https://hooks.example.com", None),
        ("https://hooks.example.com/a/b?c=%2F&d=@e", None),
        ("https://hooks.example.com:8443/x", None),
        ("https://hooks.example.com:65535", None),
        (
            "HTTPS://Hooks.Example.COM/Path?Q",
            Some("https://hooks.example.com/Path?Q"),
        ),
        ("https://a-b_c.xn--bcher-kva.example/", None),
        ("https://10.0.0.1.example.com/", None),
        ("https://localhost.example.com/", None),
        ("https://my.home.arpa.example/", None),
        ("https://8.8.8.8/", None),
        ("https://100.63.255.255/", None),
        ("https://100.128.0.0/", None),
        ("https://172.15.255.255/", None),
        ("https://172.32.0.0/", None),
        ("https://223.255.255.255/", None),
        ("https://[2606:4700:4700::1111]/", None),
        ("https://[2001:4860:4860::8888]:443/x", None),
        ("https://[2A00:1450::1]/", Some("https://[2a00:1450::1]/")),
        ("https://[3ffe::1]/", None),
    ] {
        let taken = check_address(url, &listing(url));
        assert_eq!(taken.as_deref(), Ok(expected.unwrap_or(url)), "{url}");
    }
}

#[test]
fn url_must_be_absolute_https() {
    assert_never_allowed(&[
        "",
        "hooks.example.com",
        "//hooks.example.com",
        "/path",
        "https://",
        "https:///hooks.example.com",
        "https:hooks.example.com",
        "https:\\\\hooks.example.com",
        "http://hooks.example.com/",
        "ftp://hooks.example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)//hooks.example.com",
        "data:text/plain,https://hooks.example.com",
        "blob:https://hooks.example.com/",
        " https://hooks.example.com",
        "https://hooks.example.com ",
        "https://hooks.example.com/a b",
        "ht\ntps://hooks.example.com/",
        "https://hooks.example.com/\r\nX: y",
        "https://hooks.example.com/\0",
        "https://hooks.example.com/ä",
        "https://hooks.example.com/\u{7f}",
        "https://hooks.example.com/#fragment",
        "https://hooks.example.com#@evil",
        "https://hooks.example.com\\@10.0.0.1/",
        "https, https://hooks.example.com/",
    ]);
}

#[test]
fn url_with_credentials_is_rejected() {
    assert_never_allowed(&[
        "https://user@hooks.example.com/",
        "https://user:pass@hooks.example.com/",
        "https://@hooks.example.com/",
        "https://:@hooks.example.com/",
        "https://hooks.example.com@10.0.0.1/",
        "https://hooks.example.com:443@10.0.0.1/",
        "https://hooks.example.com%40@10.0.0.1/",
    ]);
}

#[test]
fn malformed_host_or_port_is_rejected() {
    let long_label = format!("https://{}.example/", "a".repeat(64));
    let long_host = format!("https://{}example/", "a.".repeat(124));
    assert_eq!(long_host.len() - "https:///".len(), 255);
    assert_never_allowed(&[
        "https://?x",
        "https://:443/",
        "https://hooks.example.com./",
        "https://.hooks.example.com/",
        "https://hooks..example.com/",
        "https://hooks.example.com:/",
        "https://hooks.example.com:0/",
        "https://hooks.example.com:65536/",
        "https://hooks.example.com:+443/",
        "https://hooks.example.com:443:443/",
        "https://hooks.example.com:443a/",
        "https://hooks%2eexample.com/",
        "https://hooks.example.com%00.evil.example/",
        "https://%6c%6f%63%61%6c/",
        "https://hööks.example/",
        "https://hooks\u{3002}example/",
        "https://\u{2460}.example/",
        "https://hooks.example,com/",
        "https://hooks.example*com/",
        "https://[hooks.example.com]/",
        "https://[]/",
        "https://[/",
        "https://[2606:4700::1/",
        "https://2606:4700::1/",
        "https://[2606:4700::1]x/",
        "https://[2606:4700::1]:/",
        "https://[[2606:4700::1]]/",
        "https://[2606:4700::1%25eth0]/",
        "https://[2606:4700::12345]/",
        "https://[v1.x]/",
        &long_label,
        &long_host,
    ]);
}

#[test]
fn nonpublic_ipv4_address_is_rejected() {
    let hosts = "0.0.0.0 10.0.0.1 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 168.63.129.16 \
        169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.1 \
        198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 255.255.255.255";
    for host in hosts.split(' ') {
        assert_never_allowed(&["/", ":8443/", "./"].map(|rest| format!("https://{host}{rest}")));
    }
}

#[test]
fn unusual_ip_notation_is_rejected() {
    let hosts = "2130706433 0 0x7f000001 0x 0x7f.1 127.0.0.0x1 017700000001 0177.0.0.1 127.1 8.8.8 \
        08.8.8.8 8.8.8.256 8.8.8.8.8 8.8.8.8. 8.8.8.0x8 example.0x example.1 127.0.0.1. \
        4294967296 %31%32%37.0.0.1 \u{ff11}27.0.0.1";
    for host in hosts.split(' ') {
        assert_never_allowed(&[format!("https://{host}/")]);
    }
}

#[test]
fn ipv6_address_must_be_global_unicast() {
    let literals = ":: ::1 0000:0000:0000:0000:0000:0000:0000:0001 ::127.0.0.1 ::ffff:127.0.0.1 \
        ::ffff:7f00:1 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b:1::1 100::1 2001::1 \
        2001:0:7f00:1:: 2001:2::1 2001:1ff:ffff::1 2001:db8::1 2002:7f00:1:: 3fff::1 4000::1 \
        5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 1fff::1";
    for literal in literals.split(' ') {
        assert_never_allowed(&["", ":8443"].map(|port| format!("https://[{literal}]{port}/")));
    }
}

#[test]
fn local_host_name_is_rejected() {
    let hosts = "localhost LOCALHOST localhost:8443 a.localhost a.b.LocalHost printer.local \
        metadata.google.internal a.internal nas.home.arpa home.arpa a.b.home.arpa intranet com \
        metadata host:8443";
    for host in hosts.split(' ') {
        assert_never_allowed(&["https", "http"].map(|scheme| format!("{scheme}://{host}/")));
    }
}

#[test]
fn url_length_is_limited() {
    let url = |length: usize| format!("{:x<length$}", "https://hooks.example.com/");
    assert!(check_address(&url(MAX_URL_BYTES), &listing(&url(MAX_URL_BYTES))).is_ok());
    assert_never_allowed(&[url(MAX_URL_BYTES + 1)]);
}

#[test]
fn only_listed_hosts_are_accepted_including_the_port() {
    let hosts = hosts(&[
        "hooks.example.com",
        "Ci.Example.com:8443",
        "[2606:4700::1]:444",
    ]);
    let is_accepted = |url: &str| check_address(url, &hosts).is_ok();
    is_accepted.accepts(&[
        "https://hooks.example.com/",
        "https://HOOKS.example.com/x?y",
        "https://ci.example.com:8443/",
        "https://[2606:4700::1]:444/",
    ]);
    for url in [
        "https://hooks.example.com:443/",
        "https://hooks.example.com:8443/",
        "https://ci.example.com/",
        "https://a.hooks.example.com/",
        "https://hooks.example.com.evil.example/",
        "https://evil.example/hooks.example.com",
        "https://hooks.example.com@evil.example/",
        "https://evil.example\\hooks.example.com",
        "https://[2606:4700::1]/",
        "http://hooks.example.com/",
    ] {
        assert_refused(url, &hosts);
    }
}

#[test]
fn listed_loopback_host_is_accepted_with_http() {
    let hosts = hosts(&["localhost:9000", "127.0.0.1:9000", "[::1]:9000"]);
    for url in [
        "http://localhost:9000/hook",
        "https://localhost:9000/hook",
        "http://127.0.0.1:9000/",
        "http://[::1]:9000/",
    ] {
        assert_eq!(check_address(url, &hosts).as_deref(), Ok(url), "{url:?}");
    }
    for url in [
        "http://localhost:9001/",
        "http://127.0.0.2:9000/",
        "http://127.1:9000/",
        "http://[::ffff:127.0.0.1]:9000/",
        "http://localhost.:9000/",
    ] {
        assert_refused(url, &hosts);
    }
}

#[test]
fn listing_a_private_host_does_not_make_it_public() {
    for host in [
        "10.0.0.1",
        "169.254.169.254",
        "[fd00::1]",
        "a.internal",
        "127.1",
        "a.localhost",
    ] {
        assert_refused(&format!("https://{host}/"), &hosts(&[host]));
        assert_refused(&format!("http://{host}/"), &hosts(&[host]));
    }
}

#[test]
fn callers_cannot_name_a_url_without_listed_hosts() {
    for url in ["https://hooks.example/", "http://localhost:9000/", "x"] {
        let problem = check_address(url, &[]).unwrap_err();
        assert_eq!(field_and_rule(&problem), ["Webhook-Url", "webhook-hosts"]);
        let detail = problem.detail;
        assert!(detail.contains("WEBHOOK_HOSTS"), "{detail}");
    }
}

fn settings(url: Option<&str>, list: &[&str]) -> WebhookSettings {
    WebhookSettings {
        url: url.map(str::to_owned),
        secrets: vec![vec![1; 32]],
        hosts: hosts(list),
    }
}

#[test]
fn url_is_checked_again_at_delivery() {
    let (url, other): (_, &[_]) = ("https://hooks.example/x?Token", &["other.example"]);
    for (settings, is_allowed) in [
        (settings(None, &["hooks.example"]), true),
        (settings(None, &["other.example", "hooks.example"]), true),
        (settings(Some(url), &[]), true),
        (settings(Some(url), &["other.example"]), true),
        (settings(None, &[]), false),
        (settings(None, &["other.example"]), false),
        (settings(None, &["hooks.example:8443"]), false),
        (settings(Some("https://hooks.example/x?token"), &[]), false),
        (settings(Some("https://hooks.example/x"), other), false),
    ] {
        let expected = is_allowed.then(|| url.to_owned());
        assert_eq!(recheck_address(url, &settings), expected);
        // Earlier releases stored URLs verbatim. Hosts are compared case-insensitively.
        let found = recheck_address("https://Hooks.Example/x?Token", &settings);
        assert_eq!(found, expected);
    }
    let local = settings(Some("http://127.0.0.1:9000/"), &[]);
    let own = recheck_address("http://127.0.0.1:9000/", &local);
    assert_eq!(own.as_deref(), Some("http://127.0.0.1:9000/"));
    for url in [
        "https://10.0.0.1/",
        "https://a.internal/",
        "http://hooks.example/",
    ] {
        let listed = settings(None, &["10.0.0.1", "a.internal", "hooks.example"]);
        assert_eq!(recheck_address(url, &listed), None, "{url}");
    }
    let mut unsigned = settings(Some(url), &["hooks.example"]);
    unsigned.secrets.clear();
    assert_eq!(recheck_address(url, &unsigned), None);
}

#[test]
fn accepted_url_has_one_spelling() {
    for (url, expected) in [
        (
            "HTTPS://Hooks.Example:8443/A?B",
            "https://hooks.example:8443/A?B",
        ),
        ("https://Hooks.Example?B", "https://hooks.example?B"),
        ("https://hooks.example", "https://hooks.example"),
    ] {
        assert_eq!(lowercase_origin(url), expected, "{url:?}");
    }
}
