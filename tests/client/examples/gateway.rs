use quillgate::client::{Client, Server};
use quillgate::credential::{AccessToken, BaseUrl};
use quillgate::{ProjectId, ValidationError};

pub fn connect(token: &str) -> Result<Client, ValidationError> {
    let base = BaseUrl::new("https://gate.example")?;
    let server = Server::gateway(base, AccessToken::new(token)?);
    Ok(Client::new(server, ProjectId::new("acme")?))
}
