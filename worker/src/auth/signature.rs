//! Verifies signatures of issuers' tokens with `WebCrypto`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use js_sys::{Array, Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::CryptoKey;

use crate::auth::jwks::{Algorithm, PublicKey};
use crate::auth::oidc::UnverifiedToken;
use crate::runtime::{HostResult, subtle};

/// Whether the key verifies the signature of an issuer's token (RFC 7518, sections 3.3 and 3.4).
///
/// # Errors
/// If the key cannot be imported or the runtime fails.
pub async fn verify_signature(token: &UnverifiedToken, key: &PublicKey) -> HostResult<bool> {
    let algorithm = parameters(token.algorithm)?;
    let jwk: Object = serde_wasm_bindgen::to_value(key)?.unchecked_into();
    let usages = Array::of1(&JsValue::from_str("verify"));
    let subtle = subtle();
    let imported = subtle.import_key_with_object("jwk", &jwk, &algorithm, false, &usages)?;
    let imported: CryptoKey = JsFuture::from(imported).await?.unchecked_into();
    // The token's check has already decoded it once.
    let Ok(signature) = URL_SAFE_NO_PAD.decode(&token.signature) else {
        return Ok(false);
    };
    let verified = subtle.verify_with_object_and_js_u8_array_and_js_u8_array(
        &algorithm,
        &imported,
        &Uint8Array::from(&signature[..]),
        &Uint8Array::from(token.signed.as_bytes()),
    )?;
    Ok(JsFuture::from(verified).await?.is_truthy())
}

fn parameters(algorithm: Algorithm) -> HostResult<Object> {
    let fields: &[(&str, &str)] = match algorithm {
        Algorithm::Rs256 => &[("name", "RSASSA-PKCS1-v1_5"), ("hash", "SHA-256")],
        Algorithm::Es256 => &[
            ("name", "ECDSA"),
            ("namedCurve", "P-256"),
            ("hash", "SHA-256"),
        ],
    };
    let object = Object::new();
    for (name, value) in fields {
        Reflect::set(&object, &JsValue::from_str(name), &JsValue::from_str(value))?;
    }
    Ok(object)
}
