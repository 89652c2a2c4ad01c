import type { Shape } from '../../domain/shape.js';
import { NamedError } from '../../domain/model/named-error.js';

/** An answer is not the expected one: no JSON, of another shape, or too large for what it says. */
export class AnswerError extends NamedError {}

/** What may be inside of what. */
const DEEPEST = 32;

/** A list of 100,000 Services has 300,000. Each costs memory, however short its text. */
const MOST_CONTAINERS = 2_000_000;

/**
 * The value of a JSON text from outside.
 * @throws AnswerError
 */
export function parseAnswer<Answer>(text: string, shape: Shape<Answer>): Answer {
  checkContainers(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AnswerError('it is not JSON', { cause });
  }
  try {
    return shape(value, '');
  } catch (cause) {
    throw new AnswerError((cause as Error).message, { cause });
  }
}

/** Before it is parsed, which would take the memory. */
function checkContainers(text: string): void {
  let depth = 0;
  let containers = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (isQuoted) {
      if (character === '\\') index++;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === '{' || character === '[') {
      depth++;
      containers++;
      if (depth > DEEPEST || containers > MOST_CONTAINERS)
        throw new AnswerError(
          `it has ${depth > DEEPEST ? `more than ${DEEPEST} levels` : `more than ${MOST_CONTAINERS} lists and objects`}`,
        );
    } else if (character === '}' || character === ']') depth--;
  }
}
