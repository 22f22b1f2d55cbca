use js_sys::{Array, JSON, Object, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::CryptoKey;

use crate::auth::jwks::{Algorithm, PublicKey};
use crate::runtime::{HostResult, subtle};

/// RFC 7518, sections 3.3 and 3.4. Returns `false` for a key that cannot be imported.
pub async fn verify_signature(
    algorithm: Algorithm,
    signed: &str,
    signature: &[u8],
    key: &PublicKey,
) -> HostResult<bool> {
    let algorithm = JSON::parse(match algorithm {
        Algorithm::Rs256 => r#"{ "name": "RSASSA-PKCS1-v1_5", "hash": "SHA-256" }"#,
        Algorithm::Es256 => r#"{ "name": "ECDSA", "namedCurve": "P-256", "hash": "SHA-256" }"#,
    })?;
    let algorithm: Object = algorithm.unchecked_into();
    let jwk: Object = serde_wasm_bindgen::to_value(key)?.unchecked_into();
    let usages = Array::of1(&JsValue::from_str("verify"));
    let subtle = subtle();
    let imported = subtle.import_key_with_object("jwk", &jwk, &algorithm, false, &usages)?;
    let Ok(imported) = JsFuture::from(imported).await else {
        return Ok(false);
    };
    let verified = subtle.verify_with_object_and_js_u8_array_and_js_u8_array(
        &algorithm,
        imported.unchecked_ref::<CryptoKey>(),
        &Uint8Array::from(signature),
        &Uint8Array::from(signed.as_bytes()),
    )?;
    Ok(JsFuture::from(verified).await?.is_truthy())
}
