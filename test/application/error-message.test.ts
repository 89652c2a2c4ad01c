import { readFileSync } from 'node:fs';
import { errorMessage } from '../../src/application/error-message.js';

it('is the message of an error, or the text of what else was thrown', () => {
  expect(errorMessage(new TypeError('no such thing'))).toBe('no such thing');
  expect(errorMessage('so much for that')).toBe('so much for that');
  expect([undefined, null].map(errorMessage)).toEqual(['undefined', 'null']);
});

it('knows errors that Node made outside of this realm', () => {
  const read = (): string => {
    try {
      return readFileSync('/nowhere', 'utf8');
    } catch (error) {
      return errorMessage(error);
    }
  };
  expect(read()).toMatch(/^ENOENT/);
});
