/** A part of the page can be gone after an update of the gateway, or out of reach. */
export function LoadFailure() {
  return (
    <div class="problem" role="alert">
      <p class="problem-title">This part of the page could not be loaded</p>
      <p>The gateway may have been updated, or your connection may be down.</p>
      <button type="button" onClick={() => location.reload()}>
        Reload the page
      </button>
    </div>
  );
}
