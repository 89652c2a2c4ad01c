/** One record of the log. */
export interface LogRecord {
  readonly level: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The part of the program that logs it. */
  readonly caller: string;
  readonly message: string;
  /** Names and values, the error first. Only values that have a text. */
  readonly facts: readonly (readonly [name: string, value: unknown])[];
}

/** Makes a record of what a logger and its parents know. `err` and `caller` among the facts are those of the record. */
export function logRecord(level: string, time: number, message: string, known: object): LogRecord {
  const { err, caller, ...rest } = known as Readonly<Record<string, unknown>>;
  const facts = Object.entries({ err, ...rest }).filter(([, value]) => hasText(value));
  return { level, time, caller: typeof caller === 'string' ? caller : 'kube-proxy', message, facts };
}

/** JSON skips the others too. */
function hasText(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}
