//! Webhook signatures.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quillgate_worker::jobs::webhook::{derive_keys, sign};

fn secret(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap()
}

#[test]
fn signature_matches_the_published_example() {
    let signature = sign(
        &[secret("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")],
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1_614_265_330,
        r#"{"test": 2432232314}"#,
    );
    assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

#[test]
fn every_secret_signs_during_rotation() {
    let (new, old) = (vec![1; 24], vec![2; 64]);
    let one = |secret: &Vec<u8>| sign(std::slice::from_ref(secret), "msg_1", 7, "{}");
    let both = sign(&[new.clone(), old.clone()], "msg_1", 7, "{}");
    assert_eq!(both, format!("{} {}", one(&new), one(&old)));
    let none: [Vec<u8>; 0] = [];
    assert_eq!(sign(&none, "msg_1", 7, "{}"), "");
}

#[test]
fn signature_covers_id_time_and_body() {
    let signature_of = |id, time, body| sign(&[vec![1; 32]], id, time, body);
    let signature = signature_of("msg_1", 7, "{}");
    assert_eq!(signature, signature_of("msg_1", 7, "{}"));
    for other in [
        signature_of("msg_2", 7, "{}"),
        signature_of("msg_1", 8, "{}"),
        signature_of("msg_1", 7, "{ }"),
    ] {
        assert_ne!(signature, other);
    }
}

#[test]
fn each_receiver_has_its_own_keys() {
    let secrets = [vec![1; 24], vec![2; 64]];
    let keys = |project, url| derive_keys(&secrets, project, url);
    let own = keys("acme", "https://hooks.example/a");
    assert_eq!(own, keys("acme", "https://hooks.example/a"));
    assert_eq!(own.len(), secrets.len());
    for (key, secret) in own.iter().zip(&secrets) {
        assert_ne!(&key[..], &secret[..]);
    }
    assert_eq!(
        derive_keys(&secrets[1..], "acme", "https://hooks.example/a"),
        own[1..]
    );
    for (project, url) in [
        ("acme", "https://hooks.example/b"),
        ("acme", "https://hooks.example/A"),
        ("acme", "https://other.example/a"),
        ("acme2", "https://hooks.example/a"),
        ("https://hooks.example/a", "acme"),
        ("a\nacme", "https://hooks.example/"),
        ("acme", "https://hooks.example/a\nacme"),
    ] {
        for (other, key) in keys(project, url).iter().zip(&own) {
            assert_ne!(other, key, "{project} {url}");
        }
    }
    assert!(derive_keys(&[], "acme", "https://hooks.example/a").is_empty());
}

/// The expected key is the same as in `tests/harness/webhook_key.test.mjs`.
#[test]
fn key_matches_the_output_of_the_command() {
    let keys = derive_keys(
        &[vec![7; 32]],
        "demo-docs",
        "https://hooks.example/quillgate?a=b",
    );
    assert_eq!(
        STANDARD.encode(keys[0]),
        "i8mj8aaEeiFIr10Ai9Q0MW3SSFpJRxPr+W9YCcfZZQc="
    );
}
