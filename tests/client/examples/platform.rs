use quillgate::ValidationError;
use quillgate::client::Client;

pub fn connect(key: &str) -> Result<Client, ValidationError> {
    Client::builder().platform(key).project("acme").build()
}
