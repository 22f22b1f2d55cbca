import { fetchAhead } from "./session/ahead.ts";

fetchAhead();
await import("./page.tsx");
