//! The session cookie. The gateway finds the cookie by its exact name, and rejects a forged cookie.

use quillgate::Millis;
use quillgate_worker::auth::session::cookie::{
    Cookie, NAME, SameSite, SessionId, clear_cookie, find_cookie, write_cookie,
};

use crate::fixtures::{SECRET, encode, hmac};

fn read(header: &str, secrets: &[&str]) -> Option<SessionId> {
    let secrets: Vec<_> = secrets.iter().map(|one| one.as_bytes().to_vec()).collect();
    SessionId::read(find_cookie(Some(header), NAME), &secrets)
}

const OTHER: &str = "another-secret-of-the-gateway-of-40-letters";

#[test]
fn cookie_is_found_by_exact_name() {
    for (header, found) in [
        ("a=1", Cookie::One("1")),
        ("b=2; a=1; c=3", Cookie::One("1")),
        ("b=2;a=1", Cookie::One("1")),
        ("\t a=1 \t", Cookie::One("1")),
        ("a=", Cookie::One("")),
        ("a=b=c", Cookie::One("b=c")),
        ("a=\"1\"", Cookie::One("\"1\"")),
        ("a=1; a=1", Cookie::Several),
        ("a=1; b=2; a=3; a=4", Cookie::Several),
        ("", Cookie::Missing),
        ("a", Cookie::Missing),
        ("A=1", Cookie::Missing),
        ("a =1", Cookie::Missing),
        ("ba=1; aa=1", Cookie::Missing),
        ("b=1, a=1", Cookie::Missing),
    ] {
        assert_eq!(find_cookie(Some(header), "a"), found, "{header}");
    }
    assert_eq!(find_cookie(None, "a"), Cookie::Missing);
}

#[test]
fn cookie_is_host_only_and_hidden_from_scripts() {
    assert_eq!(
        write_cookie(NAME, "x", SameSite::Strict, Millis(61_999)),
        "__Host-quillgate=x; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=61"
    );
    assert_eq!(
        clear_cookie(NAME),
        "__Host-quillgate=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0"
    );
    assert!(write_cookie("a", "b", SameSite::Lax, Millis(0)).contains("; SameSite=Lax;"));
}

#[test]
fn cookie_is_valid_as_long_as_its_secret() {
    let (id, value) = SessionId::new(&[1; 32], OTHER.as_bytes());
    let header = format!("theme=dark; {NAME}={value}");
    for all in [&[OTHER][..], &[SECRET, OTHER]] {
        assert_eq!(read(&header, all), Some(id.clone()));
    }
    assert_eq!(read(&header, &[SECRET]), None);
}

#[test]
fn object_name_differs_from_the_cookie_value() {
    let (id, value) = SessionId::new(&[1; 32], SECRET.as_bytes());
    assert_eq!(value.len(), 86);
    assert!(!id.as_str().contains(&value) && !value.contains(id.as_str()));
    let (other, other_value) = SessionId::new(&[2; 32], SECRET.as_bytes());
    assert!(other != id && other_value != value);
}

#[test]
fn forged_cookie_is_rejected() {
    let (_, value) = SessionId::new(&[1; 32], SECRET.as_bytes());
    // The tag is an HMAC with the secret itself instead of the derived key.
    let underived = [
        vec![1; 32],
        hmac(&String::from_utf8(vec![1; 32]).unwrap(), SECRET),
    ]
    .concat();
    for forged in [
        String::new(),
        encode([1; 32]),
        encode(underived),
        value[..85].to_owned(),
        format!("{value}A"),
        format!("\"{value}\""),
        format!("{value}, {NAME}={value}"),
        value.to_lowercase(),
    ] {
        let header = format!("{NAME}={forged}");
        assert_eq!(read(&header, &[SECRET, OTHER]), None, "{forged:.90}");
    }
    let twice = format!("{NAME}={value}; {NAME}={value}");
    assert_eq!(read(&twice, &[SECRET]), None);
    assert_eq!(read("theme=dark", &[SECRET]), None);
}
