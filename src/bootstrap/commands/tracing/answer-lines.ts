import type { ReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { errorMessage } from '../../../application/error-message.js';
import { parseJsonQuery } from '../../../domain/trace/json-query.js';
import { CannotAskError } from '../asking/cannot-ask-error.js';
import { print } from '../output/print.js';
import type { Tracing } from './tracing.js';

/**
 * Answers the queries of a file, or of standard input for `-`, in their order, each before the next is read. Returns 1 if there was
 * one that could not be answered, otherwise 0. Rejects if the file cannot be read, or no proxy can be asked.
 */
export async function answerLines(path: string, tracing: Tracing): Promise<number> {
  const input = path === '-' ? process.stdin : await opened(path);
  let code = 0;
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.trim() === '') continue;
    const answer = await answerOf(line, tracing);
    if ('error' in answer) code = 1;
    await print(`${JSON.stringify(answer)}\n`);
  }
  return code;
}

async function opened(path: string): Promise<ReadStream> {
  try {
    return (await open(path)).createReadStream({ encoding: 'utf8' });
  } catch (error) {
    throw new Error(`cannot read the queries in ${path}: ${errorMessage(error)}`, { cause: error });
  }
}

async function answerOf(line: string, tracing: Tracing): Promise<object> {
  try {
    return await tracing(parseJsonQuery(line));
  } catch (error) {
    if (error instanceof CannotAskError) throw error;
    return { error: errorMessage(error) };
  }
}
