import { isOnline } from "./network.ts";

/** Stands in for a part of the page whose code could not be loaded. */
export function LoadFailure() {
  if (!isOnline.value) {
    return (
      <div class="problem" role="alert">
        <p class="problem-title">You’re offline</p>
        <p>We’ll load this when you’re back.</p>
      </div>
    );
  }
  return (
    <div class="problem" role="alert">
      <p class="problem-title">This part of the page didn’t load</p>
      <p>A new version may be available.</p>
      <button type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </div>
  );
}
