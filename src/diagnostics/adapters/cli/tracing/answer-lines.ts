import { open } from 'node:fs/promises';
import { errorMessage } from '../../../../application/error-message.js';
import { parseJsonQuery } from '../../../domain/trace/query.js';
import { CannotAskError } from '../asking/cannot-ask-error.js';
import { jsonLine } from '../output/formatted.js';
import { print } from '../output/print.js';
import { limitedLines } from '../asking/limited-lines.js';
import { QueriesError } from './queries-error.js';
import type { Tracing } from './tracing.js';

/** Characters of a query. */
const LONGEST = 64 * 1024;

/**
 * Answers the queries of a file, or of standard input for `-`, in their order, each before the next is read. Returns 1 if there was
 * one that could not be answered, otherwise 0.
 * @throws QueriesError, and CannotAskError if no proxy can be asked
 */
export async function answerLines(path: string, tracing: Tracing): Promise<number> {
  let code = 0;
  for await (const line of linesOf(path)) {
    if (line.trim() === '') continue;
    const answer = await answerOf(line, tracing);
    if ('error' in answer) code = 1;
    await print(jsonLine(answer));
  }
  return code;
}

async function* linesOf(path: string): AsyncGenerator<string> {
  try {
    const input = path === '-' ? process.stdin : (await open(path)).createReadStream();
    yield* limitedLines(input as AsyncIterable<Buffer>, LONGEST);
  } catch (error) {
    throw new QueriesError(path, error);
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
