import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { ROUTE_CODE } from "../route_code.ts";
import type { RouteScreen } from "../routes.ts";
import type { Session } from "../session/session.ts";
import { LoadFailure } from "./load_failure.tsx";

interface LoadedRouteProps {
  screen: RouteScreen;
  session: Session;
}

/** What a route shows, once its code is there. */
export function LoadedRoute({ screen, session }: LoadedRouteProps) {
  const loaded = useSignal<ComponentType<{ session: Session }> | null>(null);
  const failed = useSignal(false);
  useEffect(() => {
    ROUTE_CODE[screen.id]().then(
      (component) => {
        loaded.value = component;
      },
      () => {
        failed.value = true;
      },
    );
  }, [screen, loaded, failed]);
  const Loaded = loaded.value;
  if (failed.value) return <LoadFailure />;
  return Loaded && <Loaded session={session} />;
}
