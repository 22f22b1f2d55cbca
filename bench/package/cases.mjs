/** Ways to decode a page from a JSON string, with and without validation of its rows. */

import * as z from "zod";
import { decode } from "../../pkg/dist/generated/decoders.js";
import { alternate } from "./timing.mjs";

const count = z.int().nonnegative().nullish();
const PAGE = z.object({
  totals: z.object({ human: count, ai: count, total: count }),
  views: z.array(z.object({ path: z.string().nullish(), human: count, ai: count, total: count })),
  hasMore: z.boolean(),
});

export const DECODING = { parse: "JSON.parse alone", own: "JSON.parse + quillgate's decoder" };

const DECODERS = {
  [DECODING.parse]: (text) => JSON.parse(text),
  [DECODING.own]: (text) => decode("analytics.views", JSON.parse(text)),
  "JSON.parse + zod 4": (text) => PAGE.parse(JSON.parse(text)),
};

/** Validates a page with zod, for the client `ky`, which does not validate. */
export const parsePage = (value) => PAGE.parse(value);

export function timeDecoders(text, options) {
  const bound = Object.entries(DECODERS).map(([name, decoder]) => [name, () => decoder(text)]);
  return alternate(Object.fromEntries(bound), options);
}
