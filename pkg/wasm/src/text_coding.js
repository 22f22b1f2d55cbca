// wasm-bindgen's glue creates a decoder and an encoder when it is imported. These create them on the
// first use instead, because some hosts of tests, such as jsdom, have neither.

export class TextDecoder {
  #decoder;

  decode(bytes) {
    if (bytes === undefined) return "";
    this.#decoder ??= new globalThis.TextDecoder("utf-8", { ignoreBOM: true });
    return this.#decoder.decode(bytes);
  }
}

export class TextEncoder {
  #encoder;

  encode(text) {
    this.#encoder ??= new globalThis.TextEncoder();
    return this.#encoder.encode(text);
  }

  encodeInto(text, bytes) {
    this.#encoder ??= new globalThis.TextEncoder();
    return this.#encoder.encodeInto(text, bytes);
  }
}
