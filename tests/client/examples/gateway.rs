use quillgate::{Client, ValidationError};

pub fn connect(token: &str) -> Result<Client, ValidationError> {
    Client::builder()
        .gateway("https://gate.example", token)
        .project("acme")
        .build()
}
