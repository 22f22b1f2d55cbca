/** Makes tokens that a gateway must reject. */
import { createHash, createHmac, generateKeyPairSync, sign as signBytes } from "node:crypto";
import { jwkOf, newSigningKey } from "../../../harness/issuer.mjs";

/** An RS256 signature has this prefix before a SHA-256 digest (RFC 8017, section 9.2). */
const SHA256_PREFIX = Buffer.from("3031300d060960864801650304020105000420", "hex");
/** The order of the P-256 group. As r or s of a signature, this number is congruent to zero. */
const ORDER = Buffer.from(
  "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
  "hex",
);

/** Returns a string, or the JSON of any other value, in base64url. */
export function encoded(part) {
  return Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
}

/** Returns a token with exactly this header and these claims. */
export function tokenOf(header, claims, sign) {
  const body = `${encoded(header)}.${encoded(claims)}`;
  return `${body}.${Buffer.from(sign(body)).toString("base64url")}`;
}

/** Returns a function that signs a body with HMAC. */
export const hmac =
  (secret, hash = "sha256") =>
  (body) =>
    createHmac(hash, secret).update(body).digest();

/** Returns a function that signs a body with a private key and these options of Node.js. */
export const asymmetric = (key, hash, options) => (body) =>
  signBytes(hash, Buffer.from(body), { key, ...options });

/** Returns a function that signs a body with RSASSA-PSS, as PS256 does. */
export const pss = (key) => asymmetric(key, "sha256", { padding: 6, saltLength: 32 });

/** Returns a function that returns `bytes` as the signature of every body. */
export const constant = (bytes) => () => bytes;

/** These ES256 signatures verify under every key if the verifier does not reject zero. */
export const ZERO_SIGNATURES = { zero: Buffer.alloc(64), order: Buffer.concat([ORDER, ORDER]) };

/** Returns a signature that is valid under any 2,048-bit RSA key with an exponent of 1. */
export function ownMessage(body) {
  const digest = createHash("sha256").update(body).digest();
  const end = Buffer.concat([Buffer.from([0]), SHA256_PREFIX, digest]);
  return Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(254 - end.length, 0xff), end]);
}

export function lengthened(signature) {
  const bytes = Buffer.from(signature, "base64url");
  return Buffer.concat([Buffer.alloc(1), bytes]).toString("base64url");
}

/** Returns two keys with the same `kid`. Either could be the attacker's. */
export function twinKeys() {
  return [newSigningKey(), newSigningKey()].map((key) => ({ ...key, kid: "twin" }));
}

export function oddKeys() {
  const rsa = newSigningKey();
  const weak = { ...rsa, ...generateKeyPairSync("rsa", { modulusLength: 1024 }) };
  const { publicKey: p384 } = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const point = Buffer.alloc(32, 1).toString("base64url");
  const { use: _, alg: __, ...bare } = jwkOf(rsa);
  const set = {
    encrypts: { ...bare, use: "enc" },
    signs: { ...bare, key_ops: ["sign"] },
    rs512: { ...bare, alg: "RS512" },
    even: { ...bare, e: "AQAA" },
    one: { ...bare, e: "AQ" },
    weak: jwkOf(weak),
    p384: p384.export({ format: "jwk" }),
    nowhere: { kty: "EC", crv: "P-256", x: point, y: point },
    oct: { kty: "oct", k: encoded("known to all"), alg: "HS256" },
    bare,
  };
  return { rsa, weak, set: Object.entries(set).map(([kid, key]) => ({ ...key, kid })) };
}
