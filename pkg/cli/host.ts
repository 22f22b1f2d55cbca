/** The process that the program runs in. */

/** The parts of the process that commands use. Tests replace them. */
export interface Host {
  env: Readonly<Record<string, string | undefined>>;
  /** The absolute path of the current folder. */
  folder: string;
  /** The absolute path of the user's home folder; `undefined` if the user has none. */
  home: string | undefined;
  stdin: AsyncIterable<Uint8Array | string> & { isTTY?: boolean };
  stdout: Stream;
  stderr: Stream;
  signal: AbortSignal;
}

/** A writable stream, such as `process.stdout`. */
export interface Stream {
  isTTY?: boolean;
  columns?: number;
  write(data: string | Uint8Array, done?: (error?: Error | null) => void): boolean;
}
