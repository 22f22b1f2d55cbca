//! Raw requests and responses, for details that an HTTP client hides.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::client::{Client, KEY};

/// Sends a request with the accepted key on a new connection.
pub fn send(client: &Client, request_line: &str) -> TcpStream {
    let head =
        format!("{request_line} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {KEY}\r\n\r\n");
    open(client, &head)
}

fn open(client: &Client, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(client.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

/// Reads until the connection ends, and returns the text and how it ended.
pub fn read_to_end(mut stream: TcpStream) -> (String, io::Result<()>) {
    let mut bytes = Vec::new();
    let end = stream.read_to_end(&mut bytes).map(|_| ());
    (String::from_utf8_lossy(&bytes).into_owned(), end)
}
