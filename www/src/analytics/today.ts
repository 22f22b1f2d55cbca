import { computed } from "@preact/signals";
import { now } from "../shell/clock.ts";
import { dayOf } from "./address_words.ts";

/** The day that it is in UTC: a page that is left open overnight moves on with it. */
export const today = computed(() => dayOf(now.value));
