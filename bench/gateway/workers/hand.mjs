/** A gateway in JavaScript, written by hand for speed, with the same checks. */
import { admitted } from "./admission.mjs";
import { forward } from "./forward.mjs";

export default {
  async fetch(request) {
    const call = await admitted(request);
    return call.refused ?? (await forward(call));
  },
};
