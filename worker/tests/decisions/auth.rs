//! Authentication tests. They cover access tokens, trusted issuers, callers, sessions, sign-in and
//! Turnstile.

mod access_token;
mod caller;
mod identity;
mod jwks;
mod oidc;
mod session;
mod session_record;
mod turnstile;
