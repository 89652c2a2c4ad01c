import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { errorMessage } from '../../../application/error-message.js';
import { parseJsonQuery } from '../../../domain/trace/json-query.js';
import { CannotAskError } from '../asking/cannot-ask-error.js';
import type { Tracing } from './tracing.js';

/**
 * Answers the queries of a file, or of standard input for `-`, in their order, each before the next is read. Returns 1 if there was
 * one that could not be answered, otherwise 0. Rejects if the file cannot be read, or no proxy can be asked.
 */
export async function answerLines(path: string, tracing: Tracing): Promise<number> {
  const input = path === '-' ? process.stdin : createReadStream(path, 'utf8');
  // The interface ends quietly when its input fails.
  let failure: Error | undefined;
  input.once('error', (error: Error) => (failure = error));
  let code = 0;
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.trim() === '') continue;
    const answer = await answerOf(line, tracing);
    if ('error' in answer) code = 1;
    if (!process.stdout.write(`${JSON.stringify(answer)}\n`)) await once(process.stdout, 'drain');
  }
  if (failure) throw new Error(`cannot read the queries in ${path}: ${failure.message}`, { cause: failure });
  return code;
}

async function answerOf(line: string, tracing: Tracing): Promise<object> {
  try {
    return await tracing(parseJsonQuery(line));
  } catch (error) {
    if (error instanceof CannotAskError) throw error;
    return { error: errorMessage(error) };
  }
}
