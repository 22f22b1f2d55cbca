/** The least a gateway can do: it swaps the address and the key, and checks nothing. */
import { env } from "cloudflare:workers";

const KEY = `Bearer ${env.ADMIN_API_KEY}`;

export default {
  fetch({ url, method, body }) {
    const target = env.UPSTREAM_BASE_URL + url.slice(url.indexOf("/", 8));
    const headers = { authorization: KEY };
    return fetch(target, { method, headers, body, redirect: "manual" });
  },
};
