import { fetchAhead } from "./ahead.ts";
import { applyTheme } from "./shell/apply_theme.ts";

applyTheme();
fetchAhead();
await import("./page.tsx");
