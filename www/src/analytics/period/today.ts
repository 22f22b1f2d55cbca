import { computed } from "@preact/signals";
import { now } from "../../shell/clock.ts";
import { dayOf } from "./address_words.ts";

/** The current day in UTC. It advances at midnight UTC in an open tab. */
export const today = computed(() => dayOf(now.value));
