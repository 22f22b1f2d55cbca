use quillgate::client::{Client, Server};
use quillgate::credential::AdminKey;
use quillgate::{ProjectId, ValidationError};

pub fn connect(key: &str) -> Result<Client, ValidationError> {
    let server = Server::platform_at("http://127.0.0.1:8788", AdminKey::new(key)?)?;
    Ok(Client::new(server, ProjectId::new("acme")?))
}
