//! Tests of authentication: access tokens, trusted issuers, sessions and sign-in.

mod access_token;
mod caller;
mod identity;
mod jwks;
mod oidc;
mod session;
mod session_record;
mod turnstile;
