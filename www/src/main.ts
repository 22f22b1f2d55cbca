import { fetchAhead } from "./ahead.ts";
import { applyTheme } from "./shell/apply_theme.ts";

applyTheme();
fetchAhead();
await import("./page.tsx").catch((error: unknown) => {
  console.error(error);
  const reload = Object.assign(document.createElement("a"), {
    href: location.href,
    textContent: "Reload the page",
  });
  const notice = document.createElement("p");
  notice.className = "noscript";
  notice.role = "alert";
  notice.append("This page didn’t load. Check your connection. ", reload);
  document.querySelector("#page")?.append(notice);
});
