use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use js_sys::{JsString, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Crypto, SubtleCrypto};

use crate::runtime::error::HostResult;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(thread_local_v2, js_name = crypto)]
    static CRYPTO: Crypto;

    /// Takes a JavaScript string. The binding in web-sys would first copy it into wasm memory.
    type TextEncoder;
    #[wasm_bindgen(constructor)]
    fn new() -> TextEncoder;
    #[wasm_bindgen(method)]
    fn encode(this: &TextEncoder, text: &JsString) -> Uint8Array;
}

/// The fewest leading bytes of the hash that contain the 132 bits of a tag.
const TAG_BYTES: u32 = 17;
/// Base64url characters, of 6 bits each.
const TAG_LENGTH: usize = 22;

pub fn subtle() -> SubtleCrypto {
    CRYPTO.with(Crypto::subtle)
}

pub fn new_uuid() -> String {
    CRYPTO.with(Crypto::random_uuid)
}

/// Cryptographically secure.
pub fn random_bytes<const N: usize>() -> HostResult<[u8; N]> {
    let mut bytes = [0; N];
    CRYPTO.with(|crypto| crypto.get_random_values_with_u8_array(&mut bytes))?;
    Ok(bytes)
}

/// The start of the SHA-256 hash in base64url.
pub async fn digest_tag(text: &JsString) -> HostResult<String> {
    let bytes = TextEncoder::new().encode(text);
    let promise = subtle().digest_with_str_and_buffer_source("SHA-256", &bytes)?;
    let digest = Uint8Array::new(&JsFuture::from(promise).await?);
    let mut tag = URL_SAFE_NO_PAD.encode(digest.subarray(0, TAG_BYTES).to_vec());
    tag.truncate(TAG_LENGTH);
    Ok(tag)
}
