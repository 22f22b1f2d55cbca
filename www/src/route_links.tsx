import { formatAddress, type Route } from "./address.ts";
import { address, visit } from "./navigation.ts";

const ROUTES: readonly { id: Route; label: string }[] = [
  { id: "jobs", label: "Agent jobs" },
  { id: "views", label: "Page views" },
];

export function RouteLinks() {
  return (
    <nav class="view-links" aria-label="Views">
      {ROUTES.map(({ id, label }) => (
        <a
          key={id}
          href={formatAddress({ ...address.value, view: id })}
          aria-current={address.value.view === id ? "page" : undefined}
          onClick={(event) => {
            // Leave "open in a new tab" and the like to the browser.
            if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
            event.preventDefault();
            visit({ view: id });
          }}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}
