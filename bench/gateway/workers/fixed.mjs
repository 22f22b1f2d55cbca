/** An answer of its own, always the same 20 kB: what no cache can be quicker than. */
const page = new TextEncoder().encode(JSON.stringify("0123456789".repeat(2000)));
const INIT = { headers: { "content-type": "application/json" } };

export default {
  fetch() {
    return new Response(page, INIT);
  },
};
