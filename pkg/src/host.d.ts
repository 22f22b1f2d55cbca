/** See `pkg/wasm/src/host.js`. */
export function attach(
  sources: readonly unknown[],
  listener: (kind: number, number: number, text: string) => void,
): void;
