use quillgate::client::{Client, Server};
use quillgate::credential::AdminKey;
use quillgate::{ProjectId, ValidationError};

pub fn connect(key: &str) -> Result<Client, ValidationError> {
    let server = Server::platform(AdminKey::new(key)?);
    Ok(Client::new(server, ProjectId::new("acme")?))
}
