mod access_token;
mod caller;
mod identity;
mod jwks;
mod oidc;
mod session;
mod session_record;
