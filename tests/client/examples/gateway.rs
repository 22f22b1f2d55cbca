use quillgate::ValidationError;
use quillgate::client::Client;

pub fn connect(token: &str) -> Result<Client, ValidationError> {
    Client::builder()
        .gateway("https://gate.example", token)
        .project("acme")
        .build()
}
