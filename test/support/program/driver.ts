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

/** Answers requests by the handlers, one after the other, until stdin ends; then `finish`. */
export async function serve<Handlers extends object>(
  handlers: Handlers,
  finish: () => Promise<void> | void = () => undefined,
): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, op, values } = JSON.parse(line) as Request;
    let answer: Answer;
    try {
      const handler = (handlers as Record<string, (...values: unknown[]) => unknown>)[op];
      if (!handler) throw new Error(`the driver has no handler ${op}`);
      answer = { id, result: await handler(...values) };
    } catch (error) {
      const { name, message } = error as Error;
      answer = { id, error: { ...(error as Error), name, message } };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  await finish();
}
