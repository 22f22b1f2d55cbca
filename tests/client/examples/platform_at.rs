use quillgate::{Client, ValidationError};

pub fn connect(key: &str) -> Result<Client, ValidationError> {
    Client::builder()
        .platform_at("http://127.0.0.1:8788", key)
        .project("acme")
        .build()
}
