import { isOnline } from "./network.ts";

/** Shown when the code of a part of the page could not be loaded. */
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
