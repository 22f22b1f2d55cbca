let handle: (reason: string) => void = () => {};

/** Sets the function that `requestSignIn` calls. */
export function onSignInRequest(handler: (reason: string) => void): void {
  handle = handler;
}

export function requestSignIn(reason: string): void {
  handle(reason);
}
