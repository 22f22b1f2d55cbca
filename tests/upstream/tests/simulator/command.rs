use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use crate::client::KEY;

fn spawn(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_upstream"))
        .args(arguments)
        .env("UPSTREAM_ADMIN_KEY", KEY)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Reads the rest of stdout and stderr.
fn read_output(child: &mut Child, mut stdout: impl Read) -> String {
    let mut text = String::new();
    stdout.read_to_string(&mut text).unwrap();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    text
}

#[cfg(unix)]
#[test]
fn the_command_prints_its_url_reads_the_key_from_the_environment_and_exits_on_a_signal() {
    for signal in ["-TERM", "-INT"] {
        let mut child = spawn(&[
            "--port=0",
            "--pages=3",
            "--feedback=30",
            "--searches=2",
            "--conversations=60",
            "--projects=one,two",
        ]);
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let url = line
            .trim_end()
            .strip_prefix("upstream listening on ")
            .unwrap();
        assert!(url.starts_with("http://127.0.0.1:"));

        let views = format!("{url}/v1/analytics/two/views");
        let request = ureq::get(views).header("authorization", format!("Bearer {KEY}"));
        assert_eq!(request.call().unwrap().status(), 200);

        let kill = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        assert!(child.wait().unwrap().success());
        assert_eq!(read_output(&mut child, stdout), "");
    }
}

#[test]
fn a_port_in_use_is_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let mut child = spawn(&["--port", &port]);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let stdout = child.stdout.take().unwrap();
    let text = read_output(&mut child, stdout);
    assert!(text.starts_with("upstream: ") && !text.contains(KEY));
}

#[test]
fn help_hides_the_key() {
    let mut child = spawn(&["--help"]);
    let stdout = child.stdout.take().unwrap();
    let text = read_output(&mut child, stdout);
    assert!(child.wait().unwrap().success());
    assert!(text.contains("--analytics-limit") && !text.contains("mint_"));
}
