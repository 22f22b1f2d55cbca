use quillgate::{Client, ValidationError};

pub fn connect(key: &str) -> Result<Client, ValidationError> {
    Client::builder().platform(key).project("acme").build()
}
