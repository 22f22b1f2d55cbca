use quillgate::Client;
use quillgate::ValidationError;

pub fn connect(token: &str) -> Result<Client, ValidationError> {
    Client::builder()
        .gateway("https://gate.example", token)
        .project("acme")
        .build()
}
