/** One line of the log, taken apart again. */
export interface LogRecord {
  readonly level: string;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  /** The part of the program that says it. */
  readonly caller: string;
  readonly message: string;
  /** Name and value, the error first. */
  readonly facts: readonly (readonly [name: string, value: unknown])[];
}

/** Takes pino's JSON line apart. */
export function logRecord(line: string): LogRecord {
  const { level, v, ts, caller, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  void v;
  return {
    level: String(level),
    // A fact of that name may hide it.
    ts: typeof ts === 'number' ? ts : Date.now(),
    caller: typeof caller === 'string' ? caller : 'kube-proxy',
    message: String(msg ?? ''),
    facts: [...(err === undefined ? [] : [['err', err] as const]), ...Object.entries(rest)],
  };
}
