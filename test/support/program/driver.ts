import { createInterface } from 'node:readline';

/** The driver's side of in-namespace.ts: one JSON line for each request, one for each answer. */
export interface Request {
  readonly id: number;
  readonly op: string;
  readonly values: readonly unknown[];
}

export interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

const BYTES = 'bytes:';

/** As a line of JSON, bytes as text. */
export function toLine(message: Request | Answer): string {
  const text = JSON.stringify(message, (_, value: unknown) =>
    value instanceof Uint8Array ? BYTES + Buffer.from(value).toString('hex') : value,
  );
  return `${text}\n`;
}

/** Reads what `toLine` has written. */
export function fromLine(line: string): unknown {
  return JSON.parse(line, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(BYTES)
      ? new Uint8Array(Buffer.from(value.slice(BYTES.length), 'hex'))
      : value,
  );
}

/** Answers requests by the handlers, one after the other, until stdin ends; then `finish`. */
export async function serve<Handlers extends object>(
  handlers: Handlers,
  finish: () => Promise<void> | void = () => undefined,
): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, op, values } = fromLine(line) as Request;
    let answer: Answer;
    try {
      const handler = (handlers as Record<string, (...values: unknown[]) => unknown>)[op];
      if (!handler) throw new Error(`the driver has no handler ${op}`);
      answer = { id, result: await handler(...values) };
    } catch (error) {
      const { name, message } = error as Error;
      answer = { id, error: { ...(error as Error), name, message } };
    }
    process.stdout.write(toLine(answer));
  }
  await finish();
}
